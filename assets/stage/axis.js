// The one time axis that every lane shares: which seconds are shown, and where.

const LEAST_SPAN = 0.05;

class TimeAxis {
  constructor() {
    this.reset(1);
    this.left = 0;
    this.width = 1;
  }
  reset(duration) {
    this.duration = duration;
    this.t0 = 0;
    this.t1 = duration;
  }
  get span() {
    return this.t1 - this.t0;
  }
  get zoomed() {
    return this.span < this.duration - 1e-9;
  }
  x(time) {
    return this.left + ((time - this.t0) / this.span) * this.width;
  }
  time(x) {
    return this.t0 + ((x - this.left) / this.width) * this.span;
  }
  inClip(x) {
    return clamp(this.time(x), 0, this.duration);
  }
  show(start, end) {
    const span = clamp(end - start, Math.min(LEAST_SPAN, this.duration), this.duration);
    this.t0 = clamp((start + end) / 2 - span / 2, 0, this.duration - span);
    this.t1 = this.t0 + span;
  }
  zoom(factor, around) {
    const span = clamp(this.span / factor, Math.min(LEAST_SPAN, this.duration), this.duration);
    const share = clamp((around - this.t0) / this.span, 0, 1);
    this.t0 = clamp(around - share * span, 0, this.duration - span);
    this.t1 = this.t0 + span;
  }
  pan(seconds) {
    const span = this.span;
    this.t0 = clamp(this.t0 + seconds, 0, this.duration - span);
    this.t1 = this.t0 + span;
  }
  reveal(time) {
    // A page at a time, as a score is turned: the picture stands still while it is listened to.
    if (time >= this.t0 && time <= this.t1) return false;
    const span = this.span;
    this.t0 = clamp(time - span * 0.05, 0, this.duration - span);
    this.t1 = this.t0 + span;
    return true;
  }
}
