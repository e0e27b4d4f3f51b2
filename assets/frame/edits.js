// Edits travel one at a time, so that none overtakes another; those made meanwhile follow as one, in order.
// unheardEdits(leave, lost) is one line of edits: leave(edit, number) sends one to the server, lost() is called when no
// answer came. An edit builds on the one before it: `pending`, until it is answered. answered(ours) is for every new
// value of the server's; one that is not `ours` replaces all edits. Numbers only grow, over all lines of a page: the
// server lets the later of two win, whichever it begins first (components/frame/turns.py).
(() => {
  const PATIENCE = 8000;
  let made = 0, left = 0;
  window.unheardEdits = (leave, lost = () => {}) => {
    let pending = null, flying = null, waiting = null;
    const forget = () => { clearTimeout(waiting); pending = flying = null; };
    const fly = () => {
      clearTimeout(waiting);
      flying = pending;
      made = left = Math.max(made, left + 1);
      // A refused edit is answered by a sentence alone: then what the server has comes back.
      waiting = setTimeout(() => { settle(); if (pending === null) lost(); }, PATIENCE);
      leave(flying, left);
    };
    const settle = () => { if (pending === flying) forget(); else fly(); };
    return {
      get pending() { return pending; },
      send(edit) { made += 1; pending = edit; if (flying === null) fly(); },
      answered(ours = true) { if (!ours) forget(); else if (flying !== null) settle(); },
      forget,
    };
  };
})();
