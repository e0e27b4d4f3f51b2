// Clicks inside a Compose view: play a sound, open a combination, change a sum. The server checks all of it.
const player = (window.unheardComposePlayer ||= new Audio());
const quiet = () => document.querySelectorAll('[data-play][aria-pressed="true"]').forEach((button) => button.setAttribute('aria-pressed', 'false'));
player.onended = quiet;
player.onerror = quiet;

const toggle = (button) => {
  const wasOn = button.getAttribute('aria-pressed') === 'true';
  player.pause();
  quiet();
  if (wasOn) return;
  player.src = button.dataset.play;
  player.volume = 1;
  button.setAttribute('aria-pressed', 'true');
  player.play().catch(quiet);
};

const changedTerms = (button) => {
  const terms = JSON.parse(element.querySelector('[data-terms]').dataset.terms);
  if (button.dataset.remove !== undefined) terms.splice(Number(button.dataset.remove), 1);
  else if (button.dataset.clear !== undefined) terms.length = 0;
  else terms.push([Number(button.dataset.sign), button.dataset.source]);
  return terms;
};

const act = (target) => {
  const play = target.closest('[data-play]');
  if (play) return toggle(play), true;
  const term = target.closest('[data-sign], [data-remove], [data-clear]');
  if (term) return trigger('input', { terms: changedTerms(term) }), true;
  const mark = target.closest('[data-key]');
  if (mark) return trigger('select', { key: Number(mark.dataset.key) }), true;
  return false;
};

element.addEventListener('click', (event) => act(event.target));
element.addEventListener('keydown', (event) => {
  if ((event.key === 'Enter' || event.key === ' ') && event.target.closest('svg [data-key]') && act(event.target)) event.preventDefault();
});

// A new view keeps the sound that is still in it, and stops one that no button could stop any more.
watch('value', () => {
  if (player.paused) return;
  const now = player.getAttribute('src');
  element.querySelectorAll('[data-play]').forEach((button) => button.setAttribute('aria-pressed', String(button.dataset.play === now)));
  if (!document.querySelector('[data-play][aria-pressed="true"]')) player.pause();
});
