// Clicks inside a Compose view: play a sound, open a combination, change a sum. The server checks all of it.
const player = window.unheardPlayer;
const markPlaying = () => element.querySelectorAll('[data-play]').forEach((button) =>
  button.setAttribute('aria-pressed', String(player.sounding(button.dataset.play))));
document.addEventListener('unheard:sound', markPlaying);

// A changed sum is drawn at once, and the next edit builds on it: see frame/edits.js.
const edits = window.unheardEdits((terms, edit) => trigger('input', { terms, edit }));
let used = '';
const expression = () => element.querySelector('[data-terms]');

const button = (kind, said, shown, data) => {
  const made = Object.assign(document.createElement('button'), { type: 'button', className: kind, textContent: shown });
  Object.assign(made.dataset, data);
  if (said) made.setAttribute('aria-label', said);
  return made;
};

const drawTerms = (terms) => {
  const note = Object.assign(document.createElement('p'), { className: 'note', textContent: 'Add a sound to begin.' });
  const chips = terms.map(([sign, source], at) => (sign > 0
    ? button('term', `remove plus ${source}`, `+ ${source} ×`, { remove: at })
    : button('term minus', `remove minus ${source}`, `− ${source} ×`, { remove: at })));
  Object.assign(expression().dataset, { terms: JSON.stringify(terms), waiting: '' });
  expression().replaceChildren(...(chips.length ? [...chips, button('chip', '', 'Clear', { clear: 1 })] : [note]));
};

const changeTerms = ({ dataset }) => {
  const terms = JSON.parse(expression().dataset.terms);
  if (dataset.remove !== undefined) terms.splice(Number(dataset.remove), 1);
  else if (dataset.clear !== undefined) terms.length = 0;
  else terms.push([Number(dataset.sign), dataset.source]);
  used = ['remove', 'clear', 'sign', 'source'].map((name) => (dataset[name] === undefined ? '' : `[data-${name}="${CSS.escape(dataset[name])}"]`)).join('');
  drawTerms(terms);
  refocus();
  edits.send(terms);
};

// A part drawn anew keeps the keyboard where it was: on the same button, or on the last term once it is gone.
const refocus = () => {
  if (!used || document.activeElement !== document.body) return;
  (element.querySelector(used) || [...element.querySelectorAll('[data-remove]')].pop())?.focus({ preventScroll: true });
};

const answeredTerms = () => {
  if (!expression()) return;
  // An answer to an earlier edit must not take a later one back; a sum shown anew (edit 0) replaces both.
  edits.answered(expression().dataset.edit !== '0');
  if (edits.pending) drawTerms(edits.pending);
  refocus();
};

const act = (target) => {
  const play = target.closest('[data-play]');
  if (play) return player.toggle(play.dataset.play), true;
  const term = target.closest('[data-sign], [data-remove], [data-clear]');
  if (term) return changeTerms(term), true;
  const mark = target.closest('[data-key]');
  if (mark) return trigger('select', { key: Number(mark.dataset.key) }), true;
  return false;
};

element.addEventListener('click', (event) => act(event.target));

watch('value', answeredTerms);
// A new view keeps the sound that is still in it, and stops one that no button could stop any more.
watch('value', () => {
  if (!player.playing) return;
  markPlaying();
  if (![...document.querySelectorAll('[data-play], [data-url]')].some((button) => player.sounding(button.dataset.play || button.dataset.url))) player.pause();
});
