// Keys. They act when the stage has the focus, or when it is in view and nothing else needs the key: never while
// someone types, never for a button's own keys, never in a hidden tab; and the page does not scroll under a key
// that was used.

const KEY_HELP = [
  ["space", "play or pause"],
  ["\u2190 \u2192", "previous or next window"],
  ["enter", "select the window at the playhead and hear it"],
  ["[ and ]", "set the selection's start or end at the playhead"],
  ["p", "play the selection once"],
  ["l", "loop the selection"],
  ["esc", "clear the selection"],
  ["g", "cut the selection"],
  ["a, b", "hear the original or the cut, at the same place"],
  ["z, 0", "zoom to the selection, or to all"],
  ["+ and \u2212", "zoom in or out"],
  ["t", "show or hide the table"],
  ["?", "this list"],
];
const GESTURE_HELP = [
  ["drag", "select a stretch; with shift, on the spectrogram, a frequency band too"],
  ["handles", "adjust the selection; arrow keys move a focused handle"],
  ["click", "on the evidence: select a window and hear it; elsewhere: set the playhead"],
  ["ctrl + wheel, pinch", "zoom; a sideways wheel or the strip below moves along"],
];

function keyActions(stage) {
  return {
    " ": () => stage.toggle(),
    ArrowLeft: () => stage.stepWindow(-1),
    ArrowRight: () => stage.stepWindow(1),
    Enter: () => stage.pickWindow(stage.windowAt(stage.windowMiddle())),
    "[": () => stage.setEdge("start"),
    "]": () => stage.setEdge("end"),
    p: () => stage.playSelection(),
    l: () => stage.toggleLoop(),
    Escape: () => stage.clearRegion(),
    g: () => stage.askCut(),
    a: () => stage.hear("original"),
    b: () => stage.hear("cut"),
    z: () => stage.zoomSelection(),
    0: () => stage.zoomAll(),
    "+": () => stage.zoomBy(2),
    "=": () => stage.zoomBy(2),
    "-": () => stage.zoomBy(0.5),
    t: () => stage.toggleTable(),
    "?": () => stage.showHelp(),
  };
}

const TYPING = "input, textarea, select, [contenteditable]:not([contenteditable='false']), [role=textbox], [role=combobox], [role=listbox], [role=searchbox], [role=spinbutton]";
const OPERATED = "button, a[href], summary, audio, video, [role=button], [role=tab], [role=radio], [role=checkbox], [role=slider], [role=menuitem], [role=option], [tabindex]";

const OPERATING = new Set([" ", "Enter", "Escape", "ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"]);

// Which stage answers when nothing has the focus: the one used last.
let claimed = null;

function keyBelongs(stage, event) {
  const { root } = stage;
  if (!root.isConnected || root.offsetParent === null || document.hidden || event.defaultPrevented) return false;
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return false;
  // A field that gave up the focus in this very event was still typed into.
  if (event.target.closest?.(TYPING)) return false;
  const focus = document.activeElement;
  const inside = root.contains(focus);
  if (focus?.closest?.("dialog[open]") || document.querySelector("dialog[open]")) return false;
  if (inside) {
    if (focus.matches(TYPING)) return false;
    const native = focus.matches("button") && (event.key === " " || event.key === "Enter");
    const handled = focus.matches("[data-handle], .stage-table-scroll") && (event.key.startsWith("Arrow") || event.key === "Home" || event.key === "End");
    return !native && !handled;
  }
  if (focus && focus !== document.body && focus !== document.documentElement) {
    if (focus.matches(TYPING)) return false;
    if (focus.matches(OPERATED) && OPERATING.has(event.key)) return false;
  }
  if (claimed && claimed !== stage && claimed.root.isConnected && claimed.root.offsetParent !== null) return false;
  const box = stage.parts.plot.getBoundingClientRect();
  return box.bottom > 0 && box.top < window.innerHeight;
}

function listenForKeys(stage) {
  const actions = keyActions(stage);
  document.addEventListener(
    "keydown",
    (event) => {
      const action = actions[event.key] || actions[event.key.toLowerCase()];
      if (!action || !stage.view || !keyBelongs(stage, event)) return;
      if (event.repeat && !event.key.startsWith("Arrow") && !"+-=".includes(event.key)) return event.preventDefault();
      event.preventDefault();
      action();
    },
    { signal: stage.signal },
  );
}

// A focused handle is a slider: arrows move it, with shift further, Home and End to the clip's ends.
function listenForHandles(stage) {
  stage.parts.plot.addEventListener(
    "keydown",
    (event) => {
      const handle = event.target.dataset?.handle;
      const way = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1 }[event.key];
      if (!handle || event.ctrlKey || event.metaKey || event.altKey) return;
      const far = event.key === "Home" ? -Infinity : event.key === "End" ? Infinity : null;
      if (way === undefined && far === null) return;
      event.preventDefault();
      if (handle === "start" || handle === "end") {
        const moved = clamp(far ?? stage.region[handle] + way * (event.shiftKey ? 0.5 : 0.05), 0, stage.axis.duration);
        const { start, end } = { ...stage.region, [handle]: moved };
        stage.setRegion(start, end, { moving: handle, settle: "soon" });
      } else {
        const [low, high] = stage.bandShown();
        const mels = toMel(handle === "low" ? low : high) + (far ?? way * (event.shiftKey ? 200 : 40));
        const moved = fromMel(clamp(mels, 0, toMel(stage.view.spectrogram.f_hi)));
        if (handle === "low") stage.setBand(moved, high, { moving: "low", settle: "soon" });
        else stage.setBand(low, moved, { moving: "high", settle: "soon" });
      }
    },
    { signal: stage.signal },
  );
}

function fillHelp(stage) {
  const list = stage.parts["help-list"];
  for (const [title, rows] of [["Keys", KEY_HELP], ["Mouse and touch", GESTURE_HELP]]) {
    const table = document.createElement("table");
    const caption = table.createCaption();
    caption.textContent = title;
    for (const [key, meaning] of rows) {
      const row = table.insertRow();
      const head = document.createElement("th");
      head.scope = "row";
      head.textContent = key;
      row.append(head);
      row.insertCell().textContent = meaning;
    }
    list.append(table);
  }
}
