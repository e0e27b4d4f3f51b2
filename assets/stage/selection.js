// Choosing: windows, the selected stretch, the selected band. A part of the stage.

const choosing = {
  windowAt(time) {
    const curve = this.view.curves[0];
    if (!curve?.starts.length) return null;
    const half = this.view.windows.length / 2;
    let best = 0;
    curve.starts.forEach((start, n) => {
      if (Math.abs(start + half - time) < Math.abs(curve.starts[best] + half - time) - 1e-9) best = n;
    });
    return best;
  },
  windowMiddle() {
    return this.sound.position + this.view.windows.length / 2;
  },
  windowSpan(index) {
    const start = this.view.curves[0].starts[index];
    return { start, end: Math.min(start + this.view.windows.length, this.axis.duration) };
  },
  pickWindow(index) {
    if (index === null) return;
    const { start, end } = this.windowSpan(index);
    this.setRegion(start, end, { settle: true });
    this.trigger("window_click", { index });
    this.play(start, end);
  },
  stepWindow(way) {
    const starts = this.view.curves[0]?.starts;
    const now = this.sound.position;
    if (!starts?.length) return this.seek(clamp(now + way * this.view.windows.hop, 0, this.axis.duration));
    const next = way > 0 ? starts.find((start) => start > now + 0.02) : starts.findLast((start) => start < now - 0.02);
    if (next === undefined) return undefined;
    this.seek(next);
    if (this.axis.reveal(next)) this.moved();
    const index = starts.indexOf(next);
    return this.say(`${spanText(next, this.windowSpan(index).end)}: ${scoresAt(this.view, index)}`);
  },

  setRegion(start, end, { settle = true, moving = "end" } = {}) {
    const least = Math.min(this.limits.region, this.axis.duration);
    let [a, b] = [Math.min(start, end), Math.max(start, end)];
    if (b - a < least) [a, b] = moving === "start" ? [b - least, b] : [a, a + least];
    if (a < 0) [a, b] = [0, least];
    if (b > this.axis.duration) [a, b] = [Math.min(a, this.axis.duration - least), this.axis.duration];
    const exact = (value) => clamp(Math.round(value * 1000) / 1000, 0, this.axis.duration);
    this.region = { start: exact(a), end: exact(b) };
    this.afterSelection(settle);
  },
  setBand(low, high, { settle = true, moving = "high" } = {}) {
    const top = this.view.spectrogram.f_hi;
    let [a, b] = [toMel(Math.min(low, high)), toMel(Math.max(low, high))];
    if (b - a < LEAST_MELS) [a, b] = moving === "low" ? [b - LEAST_MELS, b] : [a, a + LEAST_MELS];
    if (a < 0) [a, b] = [0, LEAST_MELS];
    if (b > toMel(top)) [a, b] = [Math.min(a, toMel(top) - LEAST_MELS), toMel(top)];
    const [lowest, highest] = [Math.round(fromMel(a)), Math.min(top, Math.round(fromMel(b)))];
    this.band = lowest <= 20 && highest >= top * 0.99 ? null : [lowest, highest];
    this.afterSelection(settle);
  },
  afterSelection(settle) {
    this.drawOver();
    this.refreshButtons();
    clearTimeout(this.settleTimer);
    if (settle === "soon") this.settleTimer = setTimeout(() => this.settle(), 350);
    else if (settle) this.settle();
  },
  // A selection that stands is told to the server, once.
  settle() {
    clearTimeout(this.settleTimer);
    this.syncLoop();
    for (const name of ["region", "band"]) {
      const value = this[name];
      if (JSON.stringify(value) === JSON.stringify(this.known[name])) continue;
      this.known[name] = value;
      this.sent.push({ name, value, at: performance.now() });
      if (name === "region") this.chosen = value !== null;
      if (name === "region") this.trigger("region_change", value ? { ...value } : { start: null, end: null });
      else this.trigger("band_change", value ? { low: value[0], high: value[1] } : { low: null, high: null });
    }
    if (this.region) this.say(`Selected ${spanText(this.region.start, this.region.end)}`);
  },
  restore(region, band) {
    this.region = region;
    this.band = band;
    this.drawOver();
    this.refreshButtons();
  },
  setEdge(edge) {
    const now = this.sound.position;
    const { duration } = this.axis;
    const region = this.region || { start: 0, end: duration };
    if (edge === "start") this.setRegion(now, region.end > now ? region.end : Math.min(duration, now + 2), { moving: "end", settle: "soon" });
    else this.setRegion(region.start < now ? region.start : Math.max(0, now - 2), now, { moving: "start", settle: "soon" });
  },
  clearRegion() {
    if (!this.region && !this.band) return;
    this.region = this.band = null;
    this.afterSelection(true);
    this.say("Selection cleared");
  },
  askCut() {
    if (!this.region) return this.complain("Nothing is selected to cut. Drag over a stretch of sound, or click a window of the evidence, first.");
    this.settle();
    this.trigger("cut_request", { ...this.region, band: this.band });
    return this.say("Cutting");
  },
};
