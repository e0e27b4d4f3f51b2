// The query's relatives, each an editable line with its cosine. props.value = {lines: [{name, title, meaning, text, cosine}], longest}
// Fires "input" with {name, text} when a line was changed. All text is set as text, never as HTML.
const host = element.querySelector('.steer-lines');

const made = (tag, className, text) => {
  const node = document.createElement(tag);
  node.className = className;
  if (text !== undefined) node.textContent = text;
  return node;
};

function line({ name, title, meaning, text, cosine }) {
  const row = made('label', `steer-line ${name.replace(/ .*/, '')}`);
  const head = made('span', 'steer-title', title);
  head.append(made('small', '', meaning));
  const number = made('span', 'steer-cosine', `${cosine < 0 ? '−' : '+'}${Math.abs(cosine).toFixed(3)}`);
  const box = made('input', '');
  box.value = text;
  box.maxLength = props.value.longest;
  box.spellcheck = false;
  box.setAttribute('aria-label', `${title}: ${meaning}`);
  box.addEventListener('keydown', (event) => {
    if (event.key === 'Enter') { event.preventDefault(); box.blur(); }
    if (event.key === 'Escape') { box.value = text; box.blur(); }
  });
  box.addEventListener('blur', () => {
    const changed = box.value.trim();
    if (!changed) box.value = text;
    else if (changed !== text) trigger('input', { name, text: changed });
  });
  const meter = made('span', 'steer-meter');
  const bar = made('i', '');
  bar.style.width = `${Math.max(0, Math.min(1, cosine)) * 100}%`;
  meter.append(bar);
  row.append(head, number, box, meter);
  return row;
}

const draw = () => host.replaceChildren(...((props.value && props.value.lines) || []).map(line));
watch('value', draw);
draw();
