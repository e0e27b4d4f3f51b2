// The query's relatives, each an editable line with its cosine.
// props.value = {query, lines: [{name, title, meaning, text, cosine}], longest}; query: whose relatives they are.
// Fires "input" with {lines: {name: text}, edit} when lines were changed: see frame/edits.js. All text is set as text, never as HTML.
const host = element.querySelector('.steer-lines');
const edits = window.unheardEdits(({ lines }, edit) => trigger('input', { lines, edit }), () => draw());
const given = () => (props.value && props.value.lines) ? props.value : { query: '', lines: [], longest: -1 };
let drawn = null, drawing = false;

const made = (tag, className, text) => {
  const node = document.createElement(tag);
  node.className = className;
  if (text !== undefined) node.textContent = text;
  return node;
};

function line({ name, title, meaning }) {
  const row = made('label', `steer-line ${name.replace(/ .*/, '')}`);
  const head = made('span', 'steer-title', title);
  head.append(made('small', '', meaning));
  const box = made('input', '');
  box.maxLength = given().longest;
  box.spellcheck = false;
  box.setAttribute('aria-label', `${title}: ${meaning}`);
  box.addEventListener('keydown', (event) => {
    if (event.key === 'Enter') { event.preventDefault(); box.blur(); }
    if (event.key === 'Escape') { box.value = row.dataset.text; box.blur(); }
  });
  box.addEventListener('blur', () => {
    if (drawing) return;
    const changed = box.value.trim();
    if (changed && changed !== row.dataset.text) edits.send({ query: given().query, lines: { ...edits.pending?.lines, [name]: changed } });
    draw();
  });
  const meter = made('span', 'steer-meter');
  meter.append(made('i', ''));
  row.append(head, made('span', 'steer-cosine'), box, meter);
  return row;
}

function fill(row, { name, text, cosine }) {
  const box = row.querySelector('input');
  row.dataset.text = edits.pending?.lines[name] ?? text;
  // A text being typed stays; leaving its box sends it.
  if (document.activeElement !== box) box.value = row.dataset.text;
  row.querySelector('.steer-cosine').textContent = `${cosine < 0 ? '−' : '+'}${Math.abs(cosine).toFixed(3)}`;
  row.querySelector('.steer-meter i').style.width = `${Math.max(0, Math.min(1, cosine)) * 100}%`;
}

function draw() {
  const { query, lines } = given();
  drawing = true;
  if (query !== drawn || host.children.length !== lines.length) host.replaceChildren(...lines.map(line));
  drawing = false;
  drawn = query;
  lines.forEach((entry, at) => fill(host.children[at], entry));
}
watch('value', () => {
  edits.answered(given().query === edits.pending?.query);
  draw();
});
draw();
