// Hearing and looking closer: play, original or cut, loop, zoom. A part of the stage.

const hearing = {
  claim() {
    claimed = this;
  },
  async play(from, until) {
    if (!this.view) return;
    this.claim();
    window.unheardPlayer.begin(this.silence);
    try {
      await this.sound.play(from, until);
      this.complain("");
    } catch (error) {
      this.complain(error.message);
    }
  },
  toggle() {
    if (this.sound.playing) return this.sound.pause();
    const { loop } = this.sound;
    let from = this.sound.position;
    if (loop && (from < loop.start || from >= loop.end - 0.01)) from = loop.start;
    else if (from >= this.axis.duration - 0.02) from = 0;
    return this.play(from);
  },
  playSelection() {
    if (this.region) return this.play(this.region.start, this.region.end);
    return this.play(0);
  },
  seek(time) {
    Promise.resolve(this.sound.seek(time)).catch((error) => this.complain(error.message));
    this.drawOver();
  },
  hear(version) {
    if (version === "cut" && !this.view.cut) return this.complain("Nothing is cut yet: select a stretch and cut it (key g), then listen to it here.");
    this.complain("");
    this.sound.setVersion(version);
    this.moved();
    return this.say(version === "cut" ? "Cut" : "Original");
  },
  toggleLoop() {
    this.looping = !this.looping;
    if (this.looping && !this.region) this.setRegion(this.axis.t0, this.axis.t1);
    this.syncLoop();
    this.refreshButtons();
  },
  syncLoop() {
    if (!this.region) this.looping = false;
    const loop = this.looping ? { ...this.region } : null;
    if (JSON.stringify(loop) !== JSON.stringify(this.sound.loop)) Promise.resolve(this.sound.setLoop(loop)).catch(() => {});
  },
  zoomBy(factor) {
    const now = this.sound.position;
    this.axis.zoom(factor, now >= this.axis.t0 && now <= this.axis.t1 ? now : (this.axis.t0 + this.axis.t1) / 2);
    this.moved();
    this.refreshButtons();
  },
  zoomSelection() {
    if (!this.region) return this.complain("Nothing is selected to zoom to. Drag over a stretch of sound first.");
    const margin = (this.region.end - this.region.start) * 0.08;
    this.axis.show(this.region.start - margin, this.region.end + margin);
    this.moved();
    return this.refreshButtons();
  },
  zoomAll() {
    this.axis.show(0, this.axis.duration);
    this.moved();
    this.refreshButtons();
  },
  toggleTable() {
    const shown = !this.parts.table.classList.toggle("stage-unseen");
    const scroll = this.parts.table.querySelector(".stage-table-scroll");
    if (scroll) scroll.tabIndex = shown ? 0 : -1;
    this.refreshButtons();
  },
  showHelp() {
    this.parts.help.showModal();
  },
};
