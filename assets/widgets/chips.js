// The query's split, shown and editable: coloured spans, underlined cues, one chip a concept.
// props.value = {query, spans: [{start, end, kind, cue}], chips: [{text, polarity, cue}], notes, edited, longest}; longest: most characters of a name
// Fires "input" with {chips: [{text, polarity}], edit}: see frame/edits.js. All text is set as text, never as HTML.
const host = element.querySelector('.chips-host');
const flipped = { present: 'absent', absent: 'present' };

const made = (tag, className, text) => {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (text !== undefined) node.textContent = text;
  return node;
};

let drawn = null, drawing = false;
// What was sent last and is not answered yet is shown at once, and a second edit builds on it.
const edits = window.unheardEdits(({ chips }, edit) => trigger('input', { chips, edit }), () => draw());
const given = () => (props.value && props.value.chips) ? props.value : { query: '', spans: [], chips: [], notes: [], edited: false, longest: -1 };
const value = () => (edits.pending ? { ...given(), spans: [], notes: [], chips: edits.pending.chips } : given());
const plain = () => value().chips.map(({ text, polarity }) => ({ text, polarity }));
const send = (chips) => {
  const refused = !chips.length; // nothing waits for it, and what was there stays
  if (refused) edits.forget();
  edits.send({ chips, query: given().query });
  if (refused) edits.forget();
  draw();
};
function answered() {
  // The server may have tidied a name: whatever comes to the same query is the answer to the one edit on its way.
  edits.answered(given().query === edits.pending?.query);
  // A name being typed stays; closing its box draws what came.
  if (given().query !== drawn || !host.querySelector('.chip-edit')) draw();
}

function sentence(query, spans) {
  const line = made('p', 'chips-query');
  const characters = Array.from(query);
  let at = 0;
  for (const span of [...spans].sort((a, b) => a.start - b.start)) {
    if (span.start < at) continue;
    line.append(characters.slice(at, span.start).join(''));
    const words = made('span', `chips-${span.kind}`, characters.slice(span.start, span.end).join(''));
    if (span.kind === 'cue') words.title = 'This word turned what follows into an absence';
    line.append(words);
    at = span.end;
  }
  line.append(characters.slice(at).join(''));
  return line;
}

function editText(label, index) {
  const box = made('input', 'chip-edit');
  box.value = value().chips[index].text;
  box.maxLength = given().longest;
  box.setAttribute('aria-label', 'Name of the sound');
  let closed = false;
  const close = (keep) => {
    if (closed || drawing) return;
    closed = true;
    const text = box.value.trim();
    const chips = plain();
    if (keep && text && chips[index] && text !== chips[index].text) { chips[index].text = text; send(chips); } else draw();
  };
  box.addEventListener('keydown', (event) => {
    if (event.key === 'Enter') { event.preventDefault(); close(true); }
    if (event.key === 'Escape') close(false);
    event.stopPropagation();
  });
  box.addEventListener('blur', () => close(true));
  label.replaceWith(box);
  box.focus();
  box.select();
}

function chip({ text, polarity, cue }, index) {
  const box = made('span', `chip ${polarity}`);
  const says = polarity === 'present' ? 'should be present' : 'should be absent';
  const flip = made('button', 'chip-flip', text);
  flip.type = 'button';
  flip.title = `${says}${cue ? ` (because of “${cue}”)` : ''}; click to flip`;
  flip.setAttribute('aria-label', `${text}: ${says}. Flip.`);
  flip.addEventListener('click', () => {
    const chips = plain();
    chips[index].polarity = flipped[polarity];
    send(chips);
  });
  const edit = made('button', 'chip-small', '✎');
  edit.type = 'button';
  edit.title = 'Rename';
  edit.setAttribute('aria-label', `Rename ${text}`);
  edit.addEventListener('click', () => editText(flip, index));
  const drop = made('button', 'chip-small', '×');
  drop.type = 'button';
  drop.title = 'Remove';
  drop.setAttribute('aria-label', `Remove ${text}`);
  drop.addEventListener('click', () => send(plain().filter((_, other) => other !== index)));
  box.append(flip, edit, drop);
  return box;
}

function addChip() {
  const add = made('button', 'chip-add', '+ sound');
  add.type = 'button';
  add.addEventListener('click', () => {
    const box = made('input', 'chip-edit');
    box.placeholder = 'a further sound';
    box.maxLength = given().longest;
    box.setAttribute('aria-label', 'A further sound');
    let closed = false;
    const close = (keep) => {
      if (closed || drawing) return;
      closed = true;
      const text = box.value.trim();
      if (keep && text) send([...plain(), { text, polarity: 'present' }]); else draw();
    };
    box.addEventListener('keydown', (event) => {
      if (event.key === 'Enter') { event.preventDefault(); close(true); }
      if (event.key === 'Escape') close(false);
      event.stopPropagation();
    });
    box.addEventListener('blur', () => close(true));
    add.replaceWith(box);
    box.focus();
  });
  return add;
}

function draw() {
  const { query, spans, chips, notes, edited } = value();
  const focused = [...host.querySelectorAll('button')].indexOf(document.activeElement);
  drawing = true;
  host.replaceChildren();
  drawing = false;
  drawn = query;
  if (!query && !chips.length) return;
  if (spans.length) host.append(sentence(query, spans));
  const row = made('div', 'chips-row');
  row.setAttribute('role', 'group');
  row.setAttribute('aria-label', 'Sounds in the query');
  chips.forEach((entry, index) => row.append(chip(entry, index)));
  row.append(addChip());
  if (edited) row.append(made('span', 'chips-edited', 'your correction'));
  host.append(row);
  for (const note of notes) host.append(made('p', 'note', note));
  // A key that flips a chip stays on it.
  if (focused >= 0) host.querySelectorAll('button')[focused]?.focus({ preventScroll: true });
}

watch('value', answered);
draw();
