// Three rankings of the same clips side by side, and the curve over lambda with its slider.
// props.value = what components/ask_view.board_value builds. Fires
//   "strength" {lambda, edit}   the slider moved (frame/edits.js),
//   "open" {index}        a hit should be opened in Listen,
//   "pin" {} / "unpin" {} / "swap" {}   keep this result / forget it / go back to the kept one.
// All text is set as text, never as HTML.
const host = element.querySelector('.ask-board');
const player = window.unheardPlayer;
let shownColumn = 'raw';

const made = (tag, className, ...children) => {
  const node = document.createElement(tag);
  if (className) node.className = className;
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
};
const button = (className, text, label, action) => {
  const node = made('button', className, text);
  node.type = 'button';
  node.title = label;
  // A button with words is called by them; one with a sign alone needs a name.
  if (text.length < 3) node.setAttribute('aria-label', label);
  node.addEventListener('click', action);
  return node;
};

// ---- playing
function markPlaying() {
  for (const node of host.querySelectorAll('.ask-play')) {
    const on = player.sounding(node.dataset.url);
    node.textContent = on ? '❚❚' : '▶';
    node.classList.toggle('on', on);
  }
}
document.addEventListener('unheard:sound', markPlaying);

// ---- columns
function elsewhere(row) {
  const line = made('span', 'ask-else');
  for (const other of row.elsewhere) {
    const moved = other.rank === row.rank ? '=' : other.rank < row.rank ? '↑' : '↓';
    const said = made('span', '', `${other.title.toLowerCase()} ${other.rank} ${moved}`);
    said.title = `Rank ${other.rank} in ${other.title}, rank ${row.rank} here`;
    line.append(said);
  }
  return line;
}

function hit(row, value) {
  const box = made('li', `ask-hit${row.violates ? ' violates' : ''}${row.answers ? ' answers' : ''}`);
  box.dataset.index = row.index;
  const playButton = button('ask-play', '▶', `Play: ${row.caption}`, () => player.toggle(row.url));
  playButton.dataset.url = row.url;
  const open = button('ask-open', '', `Open in Listen: ${row.caption}`, () => trigger('open', { index: row.index }));
  open.append(made('span', 'ask-caption', row.caption), elsewhere(row));
  const mark = row.violates ? made('b', 'ask-mark', '!') : null;
  if (mark) {
    mark.title = `Its labels name the forbidden sound (${value.forbidden.join(', ')})`;
    mark.setAttribute('aria-label', 'contains the forbidden sound');
    mark.setAttribute('role', 'img');
  }
  const score = made('span', 'ask-score', mark, row.score);
  score.title = `Probability of presence, calibrated on these clips: ${row.presence}`;
  box.append(made('span', 'ask-rank', String(row.rank)), playButton, open, score);
  box.addEventListener('mouseenter', () => together(row.index, true));
  box.addEventListener('mouseleave', () => together(row.index, false));
  return box;
}
function together(index, on) {
  for (const node of host.querySelectorAll(`.ask-hit[data-index="${index}"]`)) node.classList.toggle('same', on);
}

function column(data, value) {
  const said = made('p', 'ask-said', data.said);
  said.classList.toggle('broken', data.broken);
  const list = made('ol', 'ask-list', ...data.rows.map((row) => hit(row, value)));
  const title = made('h3', '', data.title, made('small', '', data.formula));
  const box = made('section', `ask-column ${data.scorer}`, title, said, list);
  box.id = `ask-column-${data.scorer}`;
  box.setAttribute('aria-label', `${data.title}: ${data.said}`);
  box.classList.toggle('shown', data.scorer === shownColumn);
  return box;
}

function tabs(value) {
  const row = made('div', 'ask-tabs');
  row.setAttribute('role', 'tablist');
  for (const data of value.columns) {
    const tab = button('ask-tab', data.title, `${data.title}: ${data.said}`, () => show(data.scorer));
    tab.append(made('small', '', data.short));
    tab.setAttribute('role', 'tab');
    tab.setAttribute('aria-selected', String(data.scorer === shownColumn));
    tab.dataset.scorer = data.scorer;
    row.append(tab);
  }
  return row;
}
function show(scorer) {
  const at = window.scrollY;
  shownColumn = scorer;
  for (const node of host.querySelectorAll('.ask-column')) node.classList.toggle('shown', node.classList.contains(scorer));
  for (const node of host.querySelectorAll('.ask-tab')) node.setAttribute('aria-selected', String(node.dataset.scorer === scorer));
  window.scrollTo(0, at);
}

// ---- the curve, with the slider on its own axis: one step of the axis is one strength of the sweep
const toLambda = (place, lambdas) => {
  const low = Math.min(Math.floor(place), lambdas.length - 2);
  return lambdas[low] + (place - low) * (lambdas[low + 1] - lambdas[low]);
};
const toPlace = (lambda, lambdas) => {
  for (let i = 0; i < lambdas.length - 1; i += 1) {
    if (lambda <= lambdas[i + 1]) return i + (lambda - lambdas[i]) / (lambdas[i + 1] - lambdas[i]);
  }
  return lambdas.length - 1;
};
const drawn = (tag, attributes, text) => {
  const node = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  if (text !== undefined) node.textContent = text;
  return node;
};
function curve(value) {
  const { lambdas, violations, recall, exclusion } = value.curve;
  const width = 1000, height = 110, top = 14, bottom = 88, last = lambdas.length - 1;
  const x = (place) => (place / last) * width;
  const yCount = (count) => bottom - (count / value.k) * (bottom - top);
  const yShare = (share) => bottom - share * (bottom - top);
  const picture = drawn('svg', { viewBox: `0 0 ${width} ${height}`, class: 'ask-curve', preserveAspectRatio: 'none', 'aria-hidden': 'true' });
  for (const share of [0, 0.5, 1]) picture.append(drawn('line', { x1: 0, x2: width, y1: yShare(share), y2: yShare(share), class: 'grid' }));
  const line = (values, y, kind) => {
    const points = values.map((one, place) => (one === null ? null : `${x(place)},${y(one)}`));
    if (points.some((point) => point !== null)) picture.append(drawn('polyline', { points: points.filter(Boolean).join(' '), class: `line ${kind}` }));
  };
  line(recall, yShare, 'recall');
  line(violations, yCount, 'violations');
  if (exclusion.violations !== null) picture.append(drawn('line', { x1: 0, x2: width, y1: yCount(exclusion.violations), y2: yCount(exclusion.violations), class: 'line violations across' }));
  if (exclusion.recall !== null) picture.append(drawn('line', { x1: 0, x2: width, y1: yShare(exclusion.recall), y2: yShare(exclusion.recall), class: 'line recall across' }));
  picture.append(drawn('line', { x1: x(toPlace(value.lambda, lambdas)), x2: x(toPlace(value.lambda, lambdas)), y1: 0, y2: height, class: 'marker' }));
  return picture;
}
function legend(value) {
  const { violations, recall, exclusion } = value.curve;
  const entry = (kind, text) => made('span', 'ask-key', made('i', kind), text);
  const known = violations.some((one) => one !== null);
  const finds = recall.some((one) => one !== null);
  return made('p', 'ask-legend',
    known ? entry('violations', `breaking the query, of the first ${value.k}`) : entry('none', 'the labels do not name the forbidden sound'),
    finds ? entry('recall', `recall in the first ${value.k}`) : null,
    known && exclusion.violations !== null ? entry('across', `exclusion: ${exclusion.violations} break it${exclusion.recall === null ? '' : `, recall ${exclusion.recall.toFixed(2)}`}`) : null);
}
const ends = (kind, values) => made('div', `ask-ends ${kind}`, ...values.map((one) => made('span', '', String(one))));
const strengths = window.unheardEdits((lambda, edit) => trigger('strength', { lambda, edit }));
function showStrength(box, lambda) {
  const slider = box.querySelector('.ask-slider'), mark = box.querySelector('.marker');
  box.querySelector('.ask-lambda').textContent = `λ = ${lambda.toFixed(2)}`;
  slider.setAttribute('aria-valuetext', lambda.toFixed(2));
  for (const end of ['x1', 'x2']) mark.setAttribute(end, (Number(slider.value) / Number(slider.max)) * 1000);
}
function strength(value) {
  const { lambdas } = value.curve;
  const slider = made('input', 'ask-slider');
  const number = made('output', 'ask-lambda', `λ = ${value.lambda.toFixed(2)}`);
  Object.assign(slider, { type: 'range', min: 0, max: lambdas.length - 1, step: 0.05, value: toPlace(value.lambda, lambdas) });
  slider.setAttribute('aria-label', 'Steering strength lambda');
  slider.setAttribute('aria-valuetext', value.lambda.toFixed(2));
  slider.addEventListener('input', () => {
    const lambda = Math.round(toLambda(Number(slider.value), lambdas) * 100) / 100;
    showStrength(slider.closest('.ask-strength'), lambda);
    strengths.send(lambda);
  });
  const ticks = made('div', 'ask-ticks', ...lambdas.map((lambda, place) => {
    const tick = made('span', '', String(lambda));
    tick.style.left = `${(place / (lambdas.length - 1)) * 100}%`;
    return tick;
  }));
  const head = made('div', 'ask-strength-head', made('b', '', 'Steering strength'), number, legend(value));
  return made('div', 'ask-strength', head, made('div', 'ask-plot', curve(value), ends('count', [value.k, 0]), ends('share', ['1.0', '0']), slider, ticks));
}

// ---- pinned result
function summary(data, className, title) {
  const counts = data.counts.map((count) => made('span', 'ask-count', `${count.title}: ${count.said}`));
  return made('div', `ask-summary ${className}`, made('b', '', title), made('span', 'ask-summary-query', data.query), ...counts);
}
function pins(value) {
  const row = made('div', 'ask-pins');
  if (!value.pinned) {
    row.append(button('ask-small', 'Pin this result', 'Keep these counts to compare the next query with', () => trigger('pin', {})));
    return row;
  }
  row.append(summary(value.pinned, 'kept', 'Pinned'), summary(value.current, 'now', 'Now'));
  row.append(made('div', 'ask-pin-buttons',
    button('ask-small', 'Back to the pinned query', 'Show the pinned query again and pin this one', () => trigger('swap', {})),
    button('ask-small', 'Unpin', 'Forget the pinned result', () => trigger('unpin', {}))));
  return row;
}

const reading = () => made('p', 'ask-legend ask-reading',
  made('span', 'ask-key', made('i', 'edge absent'), '! holds the forbidden sound, by its labels'),
  made('span', 'ask-key', made('i', 'edge present'), 'answers the query'),
  made('span', 'ask-key', '↑ ↓ ranks higher or lower there'), made('span', 'ask-key', 'Click a caption to open it in Listen'));

// ---- drawing: the slider stays the same element while its curve does, so that neither a hand nor a key loses it
let drawnCurve = '';
function draw() {
  const value = props.value;
  if (!value || !value.columns) { host.replaceChildren(); drawnCurve = ''; return; }
  const columns = made('div', 'ask-columns', ...value.columns.map((data) => column(data, value)));
  const same = JSON.stringify(value.curve);
  const kept = same === drawnCurve && host.querySelector('.ask-strength');
  drawnCurve = same;
  if (kept) {
    const slider = kept.querySelector('.ask-slider');
    if (document.activeElement !== slider) { slider.value = toPlace(value.lambda, value.curve.lambdas); showStrength(kept, value.lambda); }
    host.querySelector('.ask-pins').replaceWith(pins(value));
    host.querySelector('.ask-tabs').replaceWith(tabs(value));
    host.querySelector('.ask-columns').replaceWith(columns);
  } else {
    host.replaceChildren(pins(value), strength(value), tabs(value), columns, reading());
  }
  markPlaying();
  strengths.answered();
}
watch('value', draw);
draw();
