// The stage itself: one view from the server, one axis, one sound; what people do goes back as events.

class Stage {
  constructor(root, colours, trigger, server) {
    Object.assign(this, { root, trigger, server });
    this.colours = Uint8Array.from(atob(colours), (letter) => letter.charCodeAt(0));
    this.abort = new AbortController();
    this.signal = this.abort.signal;
    this.parts = Object.fromEntries([...root.querySelectorAll("[data-part]")].map((part) => [part.dataset.part, part]));
    this.axis = new TimeAxis();
    this.layout = layoutFor(800, 0);
    this.view = this.sound = this.region = this.band = this.cursor = null;
    this.pictures = { original: null, cut: null };
    this.details = { original: null, cut: null };
    this.told = { region: null, band: null }; // what the server last gave, to tell its changes from our echo
    this.sent = [];
    this.bar = this.colourBar();
    this.pointers = new Pointers(this);
    listenForHandles(this);
    listenForKeys(this);
    listenForControls(this);
    fillHelp(this);
    this.watchSurroundings();
  }

  colourBar() {
    const levels = Uint8Array.from({ length: 256 }, (_, n) => n);
    return coloured(levels, 1, 256, this.colours);
  }

  watchSurroundings() {
    new ResizeObserver(() => this.resized()).observe(this.parts.plot);
    const system = matchMedia("(prefers-color-scheme: dark)");
    const theme = () => {
      // Gradio's own switch wins; elsewhere the system's wish counts.
      const dark = document.querySelector(".gradio-container") ? document.body.classList.contains("dark") : system.matches;
      this.root.dataset.theme = dark ? "dark" : "light";
      this.paint = palette(this.root);
      this.moved();
    };
    new MutationObserver(theme).observe(document.body, { attributes: true, attributeFilter: ["class"] });
    system.addEventListener("change", theme, { signal: this.signal });
    document.fonts?.ready.then(() => this.moved());
    // One sound at a time: another player on the page stops this one, and this one stops the others.
    const others = (event) => event.target instanceof HTMLMediaElement && this.sound?.pause();
    document.addEventListener("play", others, { capture: true, signal: this.signal });
    document.addEventListener("unheard:play", (event) => event.detail !== this && this.sound?.pause(), { signal: this.signal });
    theme();
  }

  // ---- the view from the server

  update(view) {
    if (!this.root.isConnected) return this.dispose();
    const before = this.view;
    this.view = view && view.clip ? view : null;
    this.parts.empty.hidden = this.view !== null;
    this.root.classList.toggle("is-empty", !this.view);
    const fresh = this.view?.clip.id !== before?.clip.id;
    if (fresh) this.open();
    if (!this.view) return this.showEmpty(view);
    if (!fresh && view.audio.cut?.url !== before.audio.cut?.url) this.sound.setCut(urlOf(view.audio.cut));
    if (!view.cut && this.sound.version === "cut") this.sound.setVersion("original");
    this.takeSelection(fresh);
    this.loadPictures();
    if (fresh || !sameNumbers(before, view)) fillTable(this);
    this.root.classList.toggle("is-pending", Boolean(view.pending));
    this.root.setAttribute("aria-busy", String(Boolean(view.pending)));
    this.parts.pending.hidden = !view.pending;
    this.parts.pending.textContent = view.pending || "";
    this.showFacts();
    this.resized();
    return this.refreshControls();
  }

  open() {
    const { view } = this;
    this.sound?.dispose();
    this.sound = null;
    this.pictures = { original: null, cut: null };
    this.details = { original: null, cut: null };
    this.region = this.band = this.cursor = null;
    this.sent = [];
    this.told = { region: null, band: null };
    this.complain("");
    if (!view) return;
    const speed = Number(this.root.querySelector("[data-field=speed]").value);
    this.axis.reset(view.clip.duration);
    const urls = { original: urlOf(view.audio.original), cut: urlOf(view.audio.cut) };
    this.sound = openSound(urls, view.clip, () => this.soundChanged());
    if (speed !== 1) this.sound.setSpeed(speed);
  }

  // The server's region and band count when IT changed them. A late echo of what was sent from here does not
  // undo what has been dragged since.
  takeSelection(fresh) {
    const { view } = this;
    const key = (value) => JSON.stringify(value);
    for (const name of ["region", "band"]) {
      const given = name === "band" ? wholeBand(view) : view.region;
      const echo = this.sent.findIndex((item) => item.name === name && key(item.value) === key(given));
      if (echo >= 0) this.sent = this.sent.filter((item, n) => item.name !== name || n > echo);
      else if (fresh || key(given) !== key(this.told[name])) this[name] = given ? (name === "region" ? { ...given } : [...given]) : null;
      this.told[name] = given;
    }
    this.syncLoop();
  }

  async loadPictures() {
    const { view } = this;
    try {
      const original = await originalPicture(view, this.colours);
      const cut = await cutPicture(view, this.colours);
      if (this.view?.clip.id !== view.clip.id) return;
      if (this.view !== view && keyOf(this.view.spectrogram.original) !== keyOf(view.spectrogram.original)) return;
      if (this.pictures.cut !== cut) this.details.cut = null;
      this.pictures = { original, cut: this.view.cut ? cut : null };
      this.root.dataset.ready = view.clip.id;
      this.moved();
    } catch (error) {
      this.complain(`The picture could not be loaded: ${error.message}. Reload the page to try again.`);
    }
  }

  showFacts() {
    const { clip } = this.view;
    this.parts.name.textContent = clip.name;
    this.parts.name.title = clip.name;
    this.parts.facts.textContent = `${clip.duration.toFixed(2)} s, ${clip.sample_rate / 1000} kHz`;
    this.parts.duration.textContent = clock(clip.duration);
    this.parts.plot.setAttribute("aria-label", `Sound and evidence of ${clip.name}. Press the question mark key for keys.`);
    this.parts["cut-label"].textContent = this.view.cut ? `cut ${fixed(-Math.abs(this.view.cut.depth_db), 0)} dB` : "cut";
  }

  showEmpty(view) {
    this.parts["empty-sentence"].textContent = view?.empty?.sentence || "Choose a clip, or bring your own, and see where the encoder hears each sound in it.";
    this.parts["empty-example"].textContent = view?.empty?.example || "For example: a street scene, and \u201ca dog barking, no rain\u201d.";
    for (const part of ["name", "facts", "readout", "position", "duration"]) this.parts[part].textContent = "";
    fillTable(this);
    this.resized();
    this.refreshControls();
  }

  // ---- what is shown

  resized() {
    const width = this.parts.plot.clientWidth;
    if (!width) return this.sound?.pause(); // in a hidden tab nothing sounds
    this.layout = layoutFor(width, this.view?.curves.length ?? 0);
    this.axis.left = this.layout.left;
    this.axis.width = this.layout.plotWidth;
    this.parts.plot.style.height = `${this.layout.height}px`;
    return this.moved();
  }

  moved() {
    if (this.waiting) return;
    this.waiting = requestAnimationFrame(() => {
      this.waiting = null;
      drawAll(this);
      this.drawOver();
      this.wantDetail();
    });
  }

  drawOver() {
    drawOverlay(this);
    placeHandles(this);
    this.parts.position.textContent = this.view ? clock(this.sound.position) : "";
  }

  soundChanged() {
    if (!this.sound) return;
    this.refreshControls();
    this.drawOver();
    if (this.sound.playing && !this.ticking) {
      const tick = () => {
        this.ticking = null;
        if (!this.root.isConnected) return this.dispose();
        if (!this.sound?.playing) return this.drawOver();
        if (!this.pointers.drag && this.axis.reveal(this.sound.position)) this.moved();
        else this.drawOver();
        this.ticking = requestAnimationFrame(tick);
        return undefined;
      };
      this.ticking = requestAnimationFrame(tick);
    }
  }

  refreshControls() {
    refreshControls(this);
  }

  // A view zoomed beyond the whole picture's own resolution asks for a finer one of what it shows.
  wantDetail() {
    const { view, axis } = this;
    clearTimeout(this.detailTimer);
    if (!view?.detail || !this.server?.finer || !this.pictures.original) return;
    const columns = (axis.span / axis.duration) * this.pictures.original.columns;
    if (columns > this.layout.plotWidth * 0.6) return;
    this.detailTimer = setTimeout(() => this.fetchDetail(), 180);
  }

  async fetchDetail() {
    const { view, axis } = this;
    const version = view.cut && this.sound.version === "cut" ? "cut" : "original";
    const held = this.details[version];
    const finer = held && (held.end - held.start) / held.columns < (axis.span / this.layout.plotWidth) * 1.6;
    if (finer && held.start <= axis.t0 + 1e-9 && held.end >= axis.t1 - 1e-9) return;
    const start = Math.max(0, axis.t0 - axis.span / 2);
    const end = Math.min(axis.duration, axis.t1 + axis.span / 2);
    const columns = Math.round(clamp(this.layout.plotWidth * ((end - start) / axis.span), 64, 2048));
    const { db_min, db_max } = view.spectrogram;
    const wanted = { file: view.detail[version], start, end, columns, db_min, db_max, scale: view.peaks.scale };
    try {
      const answer = await this.server.finer(wanted);
      if (!answer || this.view?.clip.id !== view.clip.id || this.view.detail?.[version] !== view.detail[version]) return;
      this.details[version] = await detailPicture(answer, view, this.colours);
      this.moved();
    } catch {
      // The coarse picture stays; it is true, only less sharp.
    }
  }

  shownPictures() {
    const heard = this.view.cut && this.sound.version === "cut" && this.pictures.cut ? "cut" : "original";
    const whole = this.pictures[heard];
    const part = this.details[heard];
    const covers = part && part.start <= this.axis.t0 + 1e-9 && part.end >= this.axis.t1 - 1e-9;
    return { heard, whole, part, waveform: covers ? part : whole };
  }

  frequencyAt(y) {
    const { spec } = this.layout;
    const share = clamp((spec.y + spec.h - y) / spec.h, 0, 1);
    return fromMel(share * toMel(this.view.spectrogram.f_hi));
  }
  frequencyY(frequency) {
    const { spec } = this.layout;
    return spec.y + spec.h * (1 - toMel(frequency) / toMel(this.view.spectrogram.f_hi));
  }
  bandShown() {
    return this.band || [0, this.view.spectrogram.f_hi];
  }

  hover(at) {
    this.cursor = at;
    showReadout(this);
    this.drawOver();
  }

  // ---- windows

  windowAt(time) {
    const curve = this.view.curves[0];
    if (!curve?.starts.length) return null;
    const half = this.view.windows.length / 2;
    let best = 0;
    curve.starts.forEach((start, n) => {
      if (Math.abs(start + half - time) < Math.abs(curve.starts[best] + half - time) - 1e-9) best = n;
    });
    return best;
  }
  windowMiddle() {
    return this.sound.position + this.view.windows.length / 2;
  }
  windowSpan(index) {
    const start = this.view.curves[0].starts[index];
    return { start, end: Math.min(start + this.view.windows.length, this.axis.duration) };
  }
  pickWindow(index) {
    if (index === null) return;
    const { start, end } = this.windowSpan(index);
    this.setRegion(start, end, { settle: true });
    this.trigger("window_click", { index });
    this.play(start, end);
  }
  stepWindow(way) {
    const starts = this.view.curves[0]?.starts;
    const now = this.sound.position;
    if (!starts?.length) return this.seek(clamp(now + way * 0.5, 0, this.axis.duration));
    const next = way > 0 ? starts.find((start) => start > now + 0.02) : starts.findLast((start) => start < now - 0.02);
    if (next === undefined) return undefined;
    this.seek(next);
    if (this.axis.reveal(next)) this.moved();
    const index = starts.indexOf(next);
    return this.say(`${spanText(next, this.windowSpan(index).end)}: ${scoresAt(this.view, index)}`);
  }

  // ---- selection

  setRegion(start, end, { settle = true, moving = "end" } = {}) {
    const least = Math.min(LEAST_REGION, this.axis.duration);
    let [a, b] = [Math.min(start, end), Math.max(start, end)];
    if (b - a < least) [a, b] = moving === "start" ? [b - least, b] : [a, a + least];
    if (a < 0) [a, b] = [0, least];
    if (b > this.axis.duration) [a, b] = [Math.min(a, this.axis.duration - least), this.axis.duration];
    const exact = (value) => clamp(Math.round(value * 1000) / 1000, 0, this.axis.duration);
    this.region = { start: exact(a), end: exact(b) };
    this.afterSelection(settle);
  }
  setBand(low, high, { settle = true, moving = "high" } = {}) {
    const top = this.view.spectrogram.f_hi;
    let [a, b] = [toMel(Math.min(low, high)), toMel(Math.max(low, high))];
    if (b - a < LEAST_MELS) [a, b] = moving === "low" ? [b - LEAST_MELS, b] : [a, a + LEAST_MELS];
    if (a < 0) [a, b] = [0, LEAST_MELS];
    if (b > toMel(top)) [a, b] = [Math.min(a, toMel(top) - LEAST_MELS), toMel(top)];
    const [lowest, highest] = [Math.round(fromMel(a)), Math.min(top, Math.round(fromMel(b)))];
    this.band = lowest <= 20 && highest >= top * 0.99 ? null : [lowest, highest];
    this.afterSelection(settle);
  }
  afterSelection(settle) {
    this.drawOver();
    this.refreshControls();
    clearTimeout(this.settleTimer);
    if (settle === "soon") this.settleTimer = setTimeout(() => this.settle(), 350);
    else if (settle) this.settle();
  }
  // A selection that stands is told to the server, once.
  settle() {
    clearTimeout(this.settleTimer);
    this.syncLoop();
    const last = (name) => JSON.stringify(this.sent.findLast((item) => item.name === name)?.value ?? this.told[name]);
    for (const name of ["region", "band"]) {
      const value = this[name];
      if (JSON.stringify(value) === last(name)) continue;
      this.sent.push({ name, value });
      if (name === "region") this.trigger("region_change", value ? { ...value } : { start: null, end: null });
      else this.trigger("band_change", value ? { low: value[0], high: value[1] } : { low: null, high: null });
    }
    if (this.region) this.say(`Selected ${spanText(this.region.start, this.region.end)}`);
  }
  restore(region, band) {
    this.region = region;
    this.band = band;
    this.drawOver();
    this.refreshControls();
  }
  setEdge(edge) {
    const now = this.sound.position;
    const { duration } = this.axis;
    const region = this.region || { start: 0, end: duration };
    if (edge === "start") this.setRegion(now, region.end > now ? region.end : Math.min(duration, now + 2), { moving: "end" });
    else this.setRegion(region.start < now ? region.start : Math.max(0, now - 2), now, { moving: "start" });
  }
  clearRegion() {
    if (!this.region && !this.band) return;
    this.region = this.band = null;
    this.afterSelection(true);
    this.say("Selection cleared");
  }
  askCut() {
    if (!this.region) return this.complain("Nothing is selected to cut. Drag over a stretch of sound, or click a window of the evidence, first.");
    this.settle();
    this.trigger("cut_request", { ...this.region, band: this.band });
    return this.say("Cutting");
  }

  // ---- hearing

  claim() {
    claimed = this;
  }
  async play(from, until) {
    if (!this.view) return;
    this.claim();
    document.dispatchEvent(new CustomEvent("unheard:play", { detail: this }));
    document.querySelectorAll("audio, video").forEach((other) => other.pause());
    try {
      await this.sound.play(from, until);
      this.complain("");
    } catch (error) {
      this.complain(error.message);
    }
  }
  toggle() {
    if (this.sound.playing) return this.sound.pause();
    const { loop } = this.sound;
    let from = this.sound.position;
    if (loop && (from < loop.start || from >= loop.end - 0.01)) from = loop.start;
    else if (from >= this.axis.duration - 0.02) from = 0;
    return this.play(from);
  }
  playSelection() {
    if (this.region) return this.play(this.region.start, this.region.end);
    return this.play(0);
  }
  seek(time) {
    Promise.resolve(this.sound.seek(time)).catch((error) => this.complain(error.message));
    this.drawOver();
  }
  hear(version) {
    if (version === "cut" && !this.view.cut) return this.complain("Nothing is cut yet: select a stretch and cut it (key g), then listen to it here.");
    this.complain("");
    this.sound.setVersion(version);
    this.moved();
    return this.say(version === "cut" ? "Cut" : "Original");
  }
  toggleLoop() {
    this.looping = !this.looping;
    if (this.looping && !this.region) this.setRegion(this.axis.t0, this.axis.t1);
    this.syncLoop();
    this.refreshControls();
  }
  syncLoop() {
    if (!this.region) this.looping = false;
    const loop = this.looping ? { ...this.region } : null;
    if (JSON.stringify(loop) !== JSON.stringify(this.sound.loop)) Promise.resolve(this.sound.setLoop(loop)).catch(() => {});
  }

  // ---- zoom, table, help, words

  zoomBy(factor) {
    const now = this.sound.position;
    this.axis.zoom(factor, now >= this.axis.t0 && now <= this.axis.t1 ? now : (this.axis.t0 + this.axis.t1) / 2);
    this.moved();
    this.refreshControls();
  }
  zoomSelection() {
    if (!this.region) return this.complain("Nothing is selected to zoom to. Drag over a stretch of sound first.");
    const margin = (this.region.end - this.region.start) * 0.08;
    this.axis.show(this.region.start - margin, this.region.end + margin);
    this.moved();
    return this.refreshControls();
  }
  zoomAll() {
    this.axis.show(0, this.axis.duration);
    this.moved();
    this.refreshControls();
  }
  toggleTable() {
    const shown = !this.parts.table.classList.toggle("stage-unseen");
    const scroll = this.parts.table.querySelector(".stage-table-scroll");
    if (scroll) scroll.tabIndex = shown ? 0 : -1;
    this.refreshControls();
  }
  showHelp() {
    this.parts.help.showModal();
  }
  say(words) {
    this.parts.spoken.textContent = words;
  }
  complain(words) {
    this.parts.note.textContent = words;
    this.parts.note.hidden = !words;
  }
  dispose() {
    this.abort.abort();
    this.sound?.dispose();
    if (claimed === this) claimed = null;
  }
}

const urlOf = (file) => (file ? (typeof file === "string" ? file : file.url) : null);
const sameNumbers = (a, b) => JSON.stringify([a.curves, a.windows]) === JSON.stringify([b.curves, b.windows]);

function wholeBand(view) {
  const [low, high] = view.band || [null, null];
  if (low === null && high === null) return null;
  return [low ?? 0, Math.min(high ?? view.spectrogram.f_hi, view.spectrogram.f_hi)];
}
