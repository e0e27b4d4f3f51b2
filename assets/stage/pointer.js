// Mouse, pen and finger: drag selects, a click listens, two fingers zoom, handles adjust.

const LEAST_MELS = 60;

class Pointers {
  constructor(stage) {
    this.stage = stage;
    this.down = new Map();
    this.drag = null;
    const plot = stage.parts.plot;
    const on = (target, name, handle, options) => target.addEventListener(name, handle.bind(this), { signal: stage.signal, ...options });
    on(plot, "pointerdown", this.press);
    on(plot, "pointermove", this.move);
    on(plot, "pointerup", this.release);
    on(plot, "pointercancel", this.cancel);
    on(plot, "pointerleave", () => this.down.size || stage.hover(null));
    on(plot, "wheel", this.wheel, { passive: false });
    on(plot, "dblclick", this.double);
    const overview = stage.parts.overview;
    on(overview, "pointerdown", this.pressOverview);
    on(overview, "pointermove", (event) => overview.hasPointerCapture(event.pointerId) && this.toOverview(event));
  }
  spot(event) {
    const box = this.stage.parts.plot.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  }
  lane(y) {
    const { ruler, wave, spec, rows } = this.stage.layout;
    if (y < ruler.y + ruler.h) return "ruler";
    if (y < wave.y + wave.h + 3) return "wave";
    if (y < spec.y + spec.h + 3) return "spec";
    return y < rows.y + rows.h ? "rows" : "score";
  }
  press(event) {
    const { stage } = this;
    if (!stage.view || (event.pointerType === "mouse" && event.button !== 0)) return;
    const at = this.spot(event);
    const handle = event.target.closest("[data-handle]")?.dataset.handle;
    this.down.set(event.pointerId, at);
    stage.parts.plot.setPointerCapture(event.pointerId);
    if (this.down.size === 2) return this.beginPinch();
    if (this.down.size > 2) return;
    stage.claim();
    if (handle) event.preventDefault(), stage.parts.plot.querySelector(`[data-handle="${handle}"]`).focus({ preventScroll: true });
    this.drag = {
      id: event.pointerId, kind: handle || null, from: at, lane: this.lane(at.y), shift: event.shiftKey,
      slack: event.pointerType === "mouse" ? 4 : 9, region: stage.region, band: stage.band, offset: handle ? this.grip(handle, at) : 0,
    };
    if (!handle && this.drag.lane === "ruler") {
      this.drag.kind = "scrub";
      stage.seek(stage.axis.inClip(at.x));
    }
  }
  grip(handle, at) {
    // A handle is caught beside its line; it must not jump under the finger.
    const { stage } = this;
    if (handle === "start" || handle === "end") return stage.axis.x(stage.region[handle]) - at.x;
    const [low, high] = stage.bandShown();
    return stage.frequencyY(handle === "low" ? low : high) - at.y;
  }
  move(event) {
    const { stage, drag } = this;
    const at = this.spot(event);
    if (this.down.has(event.pointerId)) this.down.set(event.pointerId, at);
    if (this.pinch) return this.movePinch();
    stage.hover(at);
    if (!drag || drag.id !== event.pointerId) return;
    if (drag.kind === null) {
      const farX = Math.abs(at.x - drag.from.x);
      if (farX < drag.slack) return;
      drag.kind = "select";
    }
    if (drag.kind === "scrub") stage.seek(stage.axis.inClip(at.x));
    else if (drag.kind === "select") this.select(at);
    else this.adjust(drag.kind, at);
  }
  select(at) {
    const { stage, drag } = this;
    const [a, b] = [stage.axis.inClip(drag.from.x), stage.axis.inClip(at.x)];
    stage.setRegion(Math.min(a, b), Math.max(a, b), { settle: false, moving: b >= a ? "end" : "start" });
    if (drag.lane === "spec" && drag.shift) {
      const frequencies = [stage.frequencyAt(drag.from.y), stage.frequencyAt(at.y)];
      stage.setBand(Math.min(...frequencies), Math.max(...frequencies), { settle: false });
    }
  }
  adjust(handle, at) {
    const { stage, drag } = this;
    if (handle === "start" || handle === "end") {
      const time = stage.axis.inClip(at.x + drag.offset);
      const { start, end } = stage.region;
      if (handle === "start") stage.setRegion(time, end, { settle: false, moving: "start" });
      else stage.setRegion(start, time, { settle: false, moving: "end" });
    } else {
      const [low, high] = stage.bandShown();
      const frequency = stage.frequencyAt(at.y + drag.offset);
      if (handle === "low") stage.setBand(frequency, high, { settle: false, moving: "low" });
      else stage.setBand(low, frequency, { settle: false, moving: "high" });
    }
  }
  release(event) {
    const { stage, drag } = this;
    const at = this.spot(event);
    this.down.delete(event.pointerId);
    if (this.pinch) return this.endPinch();
    if (!drag || drag.id !== event.pointerId) return;
    this.drag = null;
    if (drag.kind === null) this.click(at, drag.lane);
    else if (drag.kind !== "scrub") stage.settle();
    if (event.pointerType !== "mouse" && drag.kind !== null) stage.hover(null);
  }
  cancel(event) {
    // The browser took the gesture for scrolling: as if it had not begun.
    this.down.delete(event.pointerId);
    if (this.pinch) return this.endPinch();
    if (this.drag?.id !== event.pointerId) return;
    const { region, band } = this.drag;
    this.drag = null;
    this.stage.restore(region, band);
    this.stage.hover(null);
  }
  click(at, lane) {
    const { stage } = this;
    if (lane === "score" || lane === "rows") stage.pickWindow(lane === "rows" ? this.bracketAt(at) : stage.windowAt(stage.axis.time(at.x)));
    else stage.seek(stage.axis.inClip(at.x));
  }
  bracketAt(at) {
    // A click in a concept's row means its best window, wherever in the row it lands.
    const { stage } = this;
    const best = stage.view.curves[Math.floor((at.y - stage.layout.rows.y) / stage.layout.row)]?.best;
    return best ? stage.windowAt((best.start + best.end) / 2) : stage.windowAt(stage.axis.time(at.x));
  }
  double(event) {
    const at = this.spot(event);
    if (["wave", "spec"].includes(this.lane(at.y)) && !event.target.closest("[data-handle]")) this.stage.play(this.stage.axis.inClip(at.x));
  }
  wheel(event) {
    const { axis } = this.stage;
    if (!this.stage.view) return;
    const unit = event.deltaMode === 1 ? 16 : 1;
    if (event.ctrlKey || event.metaKey) {
      event.preventDefault();
      axis.zoom(Math.exp(-clamp(event.deltaY * unit, -120, 120) * 0.006), axis.inClip(this.spot(event).x));
      return this.stage.moved();
    }
    // A sideways wheel moves a zoomed axis; any other wheel is the page's.
    const sideways = event.shiftKey && !event.deltaX ? event.deltaY : event.deltaX;
    if (!axis.zoomed || Math.abs(sideways) <= Math.abs(event.shiftKey ? 0 : event.deltaY)) return;
    event.preventDefault();
    axis.pan(((sideways * unit) / axis.width) * axis.span);
    this.stage.moved();
  }
  beginPinch() {
    if (this.drag) this.stage.restore(this.drag.region, this.drag.band);
    this.drag = null;
    const [a, b] = [...this.down.values()];
    const { axis } = this.stage;
    this.pinch = { apart: Math.max(24, Math.abs(a.x - b.x)), t0: axis.t0, t1: axis.t1, held: axis.time((a.x + b.x) / 2) };
  }
  movePinch() {
    const [a, b] = [...this.down.values()];
    if (!b) return;
    const { axis } = this.stage;
    const { apart, t0, t1, held } = this.pinch;
    axis.t0 = t0;
    axis.t1 = t1;
    axis.zoom(Math.max(24, Math.abs(a.x - b.x)) / apart, held);
    axis.pan(held - axis.time((a.x + b.x) / 2));
    this.stage.moved();
  }
  endPinch() {
    if (this.down.size === 0) this.pinch = null;
    this.stage.hover(null);
  }
  pressOverview(event) {
    if (!this.stage.view) return;
    event.preventDefault();
    this.stage.parts.overview.setPointerCapture(event.pointerId);
    this.toOverview(event);
  }
  toOverview(event) {
    const { axis, parts } = this.stage;
    const box = parts.overview.getBoundingClientRect();
    const time = ((event.clientX - box.left - axis.left) / axis.width) * axis.duration;
    axis.pan(time - (axis.t0 + axis.t1) / 2);
    this.stage.moved();
  }
}
