// One sound at a time on the whole page. Whoever begins to sound says how it is silenced; whoever sounded before is.
// Plain sounds, one file from its beginning to its end, are played here: the stage's, which has two versions on one
// clock, loops and speeds, only takes its turn. "unheard:sound" is fired on the document whenever a plain one changes.
(() => {
  const audio = new Audio();
  audio.preload = 'none';
  let url = '', silence = null;
  const changed = () => document.dispatchEvent(new CustomEvent('unheard:sound'));
  const pause = () => audio.pause();
  const begin = (how) => {
    if (silence !== how) silence?.();
    silence = how;
    document.querySelectorAll('audio, video').forEach((other) => other.pause());
  };
  const sounding = (one) => one === url && !audio.paused;
  const toggle = (one) => {
    if (sounding(one)) { pause(); return; }
    begin(pause);
    if (one !== url) { url = one; audio.src = one; }
    // A sound that was replaced before it began fails too: what replaced it stays.
    audio.play().catch(() => { if (url === one) url = ''; changed(); });
  };
  for (const event of ['play', 'pause', 'ended', 'error']) audio.addEventListener(event, changed);
  // A player of Gradio's own stands in the page; ours does not.
  document.addEventListener('play', (event) => { if (event.target instanceof HTMLMediaElement) { silence?.(); silence = null; } }, true);
  window.unheardPlayer = { begin, toggle, sounding, pause, audio, get playing() { return audio.paused ? '' : url; } };
})();
