// Buttons and fields beside the picture, and what they show.

function refreshButtons(stage) {
  const { root, view, sound, region, parts } = stage;
  const button = (name) => root.querySelector(`[data-do="${name}"]`);
  for (const element of parts.controls.querySelectorAll("button, input, select")) element.disabled = !view && element.dataset.do !== "help";
  const playing = Boolean(sound?.playing);
  button("play").classList.toggle("is-playing", playing);
  button("play").setAttribute("aria-label", playing ? "Pause" : "Play");
  button("original").setAttribute("aria-pressed", String(!sound || sound.version === "original"));
  button("cut").setAttribute("aria-pressed", String(sound?.version === "cut"));
  button("cut").disabled = !view?.cut;
  button("cut").title = view?.cut ? "Hear the cut (b)" : "Nothing is cut yet";
  button("loop").setAttribute("aria-pressed", String(Boolean(stage.looping)));
  for (const name of ["play-selection", "zoom-selection"]) button(name).disabled = !region;
  button("zoom-all").disabled = button("zoom-out").disabled = !view || !stage.axis.zoomed;
  button("table").setAttribute("aria-expanded", String(!parts.table.classList.contains("stage-unseen")));
  for (const edge of ["start", "end"]) {
    const field = root.querySelector(`[data-field="${edge}"]`);
    if (document.activeElement !== field || !field.dataset.dirty) field.value = region ? region[edge].toFixed(2) : "";
  }
}

function listenForButtons(stage) {
  const { root, signal } = stage;
  const deeds = {
    play: () => stage.toggle(), original: () => stage.hear("original"), cut: () => stage.hear("cut"),
    "play-selection": () => stage.playSelection(), loop: () => stage.toggleLoop(),
    "zoom-out": () => stage.zoomBy(0.5), "zoom-in": () => stage.zoomBy(2),
    "zoom-selection": () => stage.zoomSelection(), "zoom-all": () => stage.zoomAll(),
    table: () => stage.toggleTable(), help: () => stage.showHelp(),
  };
  root.addEventListener("click", (event) => {
    const name = event.target.closest?.("[data-do]")?.dataset.do;
    if (!name) return;
    stage.claim();
    deeds[name]();
  }, { signal });
  root.querySelector("[data-field=speed]").addEventListener("change", (event) => stage.sound?.setSpeed(Number(event.target.value)), { signal });
  for (const edge of ["start", "end"]) {
    const field = root.querySelector(`[data-field="${edge}"]`);
    field.addEventListener("input", () => (field.dataset.dirty = "yes"), { signal });
    field.addEventListener("keydown", (event) => event.key === "Enter" && field.blur(), { signal });
    field.addEventListener("blur", () => takeField(stage, edge, field), { signal });
  }
}

function takeField(stage, edge, field) {
  if (!field.dataset.dirty || !stage.view) return;
  delete field.dataset.dirty;
  const typed = Number(field.value.trim().replace(",", "."));
  const { duration } = stage.axis;
  if (!field.value.trim() || !Number.isFinite(typed) || typed < 0 || typed > duration) {
    stage.complain(`\u201c${field.value.slice(0, 20)}\u201d is not a time in this clip; type seconds between 0 and ${duration.toFixed(2)}.`);
    return refreshButtons(stage);
  }
  stage.complain("");
  const region = { start: 0, end: duration, ...stage.region, [edge]: typed };
  return stage.setRegion(region.start, region.end, { moving: edge === "start" ? "end" : "start" });
}
