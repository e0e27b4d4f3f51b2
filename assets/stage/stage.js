// The stage itself: one view from the server, one axis, one sound; what people do goes back as events.

// For so long a value that comes back is taken for the echo of what was sent, not for the server's own wish.
const ECHO_MS = 8000;

class Stage {
  constructor(root, colours, limits, trigger, server) {
    Object.assign(this, { root, limits, trigger, server });
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
    this.known = { region: null, band: null }; // what the server knows: the last given or sent
    this.silence = () => this.sound?.pause();
    this.sent = [];
    this.bar = this.colourBar();
    this.pointers = new Pointers(this);
    listenForHandles(this);
    listenForKeys(this);
    listenForButtons(this);
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
    theme();
  }

  // ---- the view from the server

  update(view) {
    if (!this.root.isConnected) return this.dispose();
    if (view?.waiting !== undefined) {
      this.chosen = false;
      return this.wait(view.waiting);
    }
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
    this.wait(view.pending);
    this.showFacts();
    this.resized();
    return this.refreshButtons();
  }

  // What is being done: what is shown stays, dimmed, under a line that says it. Nothing to say: as before.
  wait(doing) {
    this.root.classList.toggle("is-pending", Boolean(doing));
    this.root.setAttribute("aria-busy", String(Boolean(doing)));
    this.parts.pending.hidden = !doing;
    this.parts.pending.textContent = doing || "";
    if (doing && !this.view) this.parts["empty-sentence"].textContent = doing;
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
    this.known = { region: null, band: null };
    this.complain("");
    if (!view) return;
    const speed = Number(this.root.querySelector("[data-field=speed]").value);
    this.axis.reset(view.clip.duration);
    const urls = { original: urlOf(view.audio.original), cut: urlOf(view.audio.cut) };
    this.sound = openSound(urls, view.clip, () => this.soundChanged());
    if (speed !== 1) this.sound.setSpeed(speed);
  }

  // The server's region and band count when IT changed them. A late echo of what was sent from here does not
  // undo what has been dragged since, nor does the region that work in progress offers.
  takeSelection(fresh) {
    const { view } = this;
    const key = (value) => JSON.stringify(value);
    const kept = (name) => name === "region" && this.chosen && this.root.classList.contains("is-pending");
    this.sent = this.sent.filter((item) => performance.now() - item.at < ECHO_MS);
    for (const name of ["region", "band"]) {
      const given = name === "band" ? wholeBand(view) : view.region;
      const echo = this.sent.findIndex((item) => item.name === name && key(item.value) === key(given));
      if (echo >= 0) this.sent = this.sent.filter((item, n) => item.name !== name || n > echo);
      else if (fresh || (key(given) !== key(this.told[name]) && !kept(name))) this[name] = this.known[name] = given && structuredClone(given);
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
    this.parts["empty-sentence"].textContent = view?.pending || view?.empty?.sentence || "Choose a clip, or bring your own, and see where the encoder hears each sound in it.";
    this.parts["empty-example"].textContent = (view?.pending ? "" : view?.empty?.example || "For example: a street scene, and \u201ca dog barking, no rain\u201d.");
    for (const part of ["name", "facts", "readout", "position", "duration"]) this.parts[part].textContent = "";
    fillTable(this);
    this.resized();
    this.refreshButtons();
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
    this.refreshButtons();
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

  refreshButtons() {
    refreshButtons(this);
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
    const columns = Math.round(clamp(this.layout.plotWidth * ((end - start) / axis.span), 64, this.limits.columns));
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

  // ---- words

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

Object.assign(Stage.prototype, choosing, hearing);

const urlOf = (file) => (file ? (typeof file === "string" ? file : file.url) : null);
const sameNumbers = (a, b) => JSON.stringify([a.curves, a.windows]) === JSON.stringify([b.curves, b.windows]);

function wholeBand(view) {
  const [low, high] = view.band || [null, null];
  if (low === null && high === null) return null;
  return [low ?? 0, Math.min(high ?? view.spectrogram.f_hi, view.spectrogram.f_hi)];
}
