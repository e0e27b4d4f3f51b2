// The query's split, shown and editable: coloured spans, underlined cues, one chip a concept.
// props.value = {query, spans: [{start, end, kind, cue}], chips: [{text, polarity, cue}], notes, edited, longest}; longest: most characters of a name
// Fires "input" with {chips: [{text, polarity}], edit} after every edit; edits are numbered from 1 in a page. All text is set as text, never as HTML.
const host = element.querySelector('.chips-host');
const flipped = { present: 'absent', absent: 'present' };

const made = (tag, className, text) => {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (text !== undefined) node.textContent = text;
  return node;
};

// What was sent last and is not answered yet: it is shown at once, and a second edit builds on it.
let sent = null, flying = null, forgetting = null, edits = 0;
let drawn = null, drawing = false;
const given = () => (props.value && props.value.chips) ? props.value : { query: '', spans: [], chips: [], notes: [], edited: false, longest: -1 };
const value = () => (sent ? { ...given(), spans: [], notes: [], chips: sent.chips } : given());
const plain = () => value().chips.map(({ text, polarity }) => ({ text, polarity }));
const forget = () => { clearTimeout(forgetting); sent = null; flying = null; };
// One edit is on its way at a time, so that none overtakes another; those made meanwhile follow as one.
const fly = () => {
  flying = sent.chips;
  clearTimeout(forgetting);
  // A refused edit is answered by a sentence alone: then the server's chips come back.
  forgetting = setTimeout(() => { if (sent.chips === flying) { forget(); draw(); } else fly(); }, 8000);
  trigger('input', { chips: flying, edit: edits += 1 });
};
const send = (chips) => {
  if (!chips.length) { forget(); draw(); trigger('input', { chips, edit: edits += 1 }); return; } // it is refused
  sent = { chips, query: given().query };
  draw();
  if (!flying) fly();
};
function answered() {
  if (sent && given().query !== sent.query) forget();
  // The server may have tidied a name: whatever comes is the answer to the one edit on its way.
  else if (flying) { if (sent.chips === flying) forget(); else fly(); }
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
