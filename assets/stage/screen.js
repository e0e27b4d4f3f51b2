// What stands on the screen at one moment: the drawn lanes, the overlay, the handles, the read-out.

function sized(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== w || canvas.height !== h) {
    canvas.width = w;
    canvas.height = h;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
  }
  const g = canvas.getContext("2d");
  g.setTransform(ratio, 0, 0, ratio, 0, 0);
  g.clearRect(0, 0, width, height);
  return g;
}

function drawAll(stage) {
  const { parts, layout, axis, view, paint } = stage;
  const g = sized(parts.base, layout.width, layout.height);
  g.font = `${FONT}px ${paint.font}`;
  g.fillStyle = paint.plot;
  const { wave, spec, rows, score, left, plotWidth } = layout;
  g.fillRect(left, wave.y, plotWidth, wave.h);
  g.fillRect(left, spec.y, plotWidth, spec.h);
  g.fillRect(left, rows.y, plotWidth, rows.h + score.h);
  drawOverview(stage);
  if (!view) return;
  drawRuler(g, layout, axis, paint);
  const { heard, whole, part, waveform } = stage.shownPictures();
  if (whole) {
    drawWave(g, layout, axis, waveform, heard === "cut" ? stage.pictures.original : null, waveTop(stage), paint);
    drawSpectrogram(g, layout, axis, part ? [whole, part] : [whole], view.spectrogram, stage.bar, paint);
  }
  drawScores(g, layout, axis, view, paint);
  drawBrackets(g, layout, axis, view, paint);
  drawCut(g, stage);
}

// One amplitude scale for original and cut: the original's peak.
function waveTop(stage) {
  const { original } = stage.pictures;
  if (original.top === undefined) {
    const most = original.peaks.values.reduce((top, value) => Math.max(top, Math.abs(value)), 0);
    original.top = Math.max(1e-4, (most / 32767) * original.peaks.scale);
  }
  return original.top;
}

function drawCut(g, stage) {
  const { view, axis, layout, paint } = stage;
  if (!view.cut) return;
  const { start, end, band } = view.cut;
  const x0 = clamp(axis.x(start), layout.left, layout.left + layout.plotWidth);
  const x1 = clamp(axis.x(end), layout.left, layout.left + layout.plotWidth);
  if (x1 - x0 < 1) return;
  const ratio = window.devicePixelRatio || 1;
  const { wave, spec } = layout;
  const top = band ? stage.frequencyY(Math.min(band[1], view.spectrogram.f_hi)) : spec.y;
  const bottom = band ? stage.frequencyY(band[0]) : spec.y + spec.h;
  const heard = stage.sound.version === "cut";
  g.save();
  g.globalAlpha = heard ? 1 : 0.5;
  hatch(g, x0, wave.y, x1 - x0, wave.h, paint.hatch, ratio);
  hatch(g, x0, top, x1 - x0, bottom - top, "rgba(210, 210, 215, 0.38)", ratio);
  g.restore();
}

function drawOverview(stage) {
  const { parts, layout, axis, paint, pictures } = stage;
  const height = 20;
  const g = sized(parts["overview-canvas"], layout.width, height);
  parts["overview-canvas"].hidden = !stage.view || !axis.zoomed;
  parts.hint.hidden = !parts["overview-canvas"].hidden;
  parts.hint.textContent = stage.view ? (layout.narrow ? "Drag to select, tap evidence to hear it" : "Drag to select a stretch. Click the evidence to hear a window. Press ? for keys.") : "";
  if (!stage.view || !pictures.original) return;
  const columns = Math.round(layout.plotWidth);
  const { low, high } = envelope(pictures.original, 0, axis.duration, columns);
  const top = waveTop(stage);
  g.fillStyle = paint.ghost;
  for (let n = 0; n < columns; n++) {
    const upper = (high[n] / top) * (height / 2 - 1);
    const lower = (low[n] / top) * (height / 2 - 1);
    g.fillRect(layout.left + n, height / 2 - upper, 1, Math.max(1, upper - lower));
  }
  const x = layout.left + (axis.t0 / axis.duration) * layout.plotWidth;
  const w = Math.max(8, (axis.span / axis.duration) * layout.plotWidth);
  g.fillStyle = paint.select;
  g.fillRect(x, 0, w, height);
  g.strokeStyle = paint.ink;
  g.lineWidth = 1;
  g.strokeRect(x + 0.5, 0.5, w - 1, height - 1);
}

function drawOverlay(stage) {
  const { parts, layout, axis, view, paint } = stage;
  const g = sized(parts.over, layout.width, layout.height);
  if (!view) return;
  const { left, plotWidth, ruler, spec, score } = layout;
  const bottom = score.y + score.h;
  g.font = `${FONT}px ${paint.font}`;
  g.save();
  g.beginPath();
  g.rect(left, ruler.y, plotWidth, layout.height);
  g.clip();
  if (stage.region) drawRegion(g, stage);
  drawCursor(g, stage, bottom);
  const x = axis.x(stage.sound.position);
  g.strokeStyle = g.fillStyle = paint.head;
  g.lineWidth = 2;
  g.beginPath();
  g.moveTo(x, ruler.y + ruler.h - 4);
  g.lineTo(x, bottom);
  g.stroke();
  // Over the picture the line needs a dark edge to be seen on bright cells.
  g.strokeStyle = "rgba(0, 0, 0, 0.55)";
  g.lineWidth = 1;
  g.strokeRect(x - 1.5, spec.y, 3, spec.h);
  g.fillStyle = "#fff";
  g.fillRect(x - 1, spec.y, 2, spec.h);
  g.fillStyle = paint.head;
  g.beginPath();
  g.moveTo(x - 6, ruler.y + ruler.h - 9);
  g.lineTo(x + 6, ruler.y + ruler.h - 9);
  g.lineTo(x, ruler.y + ruler.h);
  g.fill();
  g.restore();
}

function drawRegion(g, stage) {
  const { layout, axis, paint, region } = stage;
  const { wave, spec, rows, score } = layout;
  const [x0, x1] = [axis.x(region.start), axis.x(region.end)];
  g.fillStyle = paint.select;
  g.fillRect(x0, wave.y, x1 - x0, wave.h);
  g.fillRect(x0, rows.y, x1 - x0, rows.h + score.h);
  // On the spectrogram the selection is a frame: a wash would change the colours that carry the levels.
  const [low, high] = stage.bandShown();
  const [top, bottom] = [stage.frequencyY(high), stage.frequencyY(low)];
  if (stage.band) {
    g.fillStyle = "rgba(0, 0, 0, 0.45)";
    g.fillRect(x0, spec.y, x1 - x0, top - spec.y);
    g.fillRect(x0, bottom, x1 - x0, spec.y + spec.h - bottom);
  }
  g.strokeStyle = "rgba(0, 0, 0, 0.6)";
  g.lineWidth = 3.5;
  g.strokeRect(x0, top + 1, x1 - x0, bottom - top - 2);
  g.strokeStyle = "#fff";
  g.lineWidth = 1.5;
  g.strokeRect(x0, top + 1, x1 - x0, bottom - top - 2);
  g.strokeStyle = paint.ink;
  g.beginPath();
  for (const x of [x0, x1]) {
    g.moveTo(x, wave.y), g.lineTo(x, wave.y + wave.h);
    g.moveTo(x, score.y), g.lineTo(x, score.y + score.h);
  }
  g.stroke();
}

function drawCursor(g, stage, bottom) {
  const { cursor, axis, layout, paint, view, pointers } = stage;
  if (!cursor || pointers.drag || cursor.x < layout.left || cursor.x > layout.left + layout.plotWidth) return;
  const lane = pointers.lane(cursor.y);
  if (lane === "score" || lane === "rows") {
    const index = lane === "rows" ? pointers.bracketAt(cursor) : stage.windowAt(axis.time(cursor.x));
    if (index === null) return;
    const { start, end } = stage.windowSpan(index);
    g.fillStyle = paint.select;
    g.fillRect(axis.x(start), layout.rows.y, axis.x(end) - axis.x(start), bottom - layout.rows.y);
    return;
  }
  g.strokeStyle = paint.quiet;
  g.lineWidth = 1;
  g.setLineDash([2, 3]);
  g.beginPath();
  const x = Math.round(cursor.x) + 0.5;
  g.moveTo(x, layout.wave.y);
  g.lineTo(x, bottom);
  g.stroke();
  if (lane === "spec" && view) {
    g.strokeStyle = "rgba(255, 255, 255, 0.7)";
    g.beginPath();
    g.moveTo(layout.left, Math.round(cursor.y) + 0.5);
    g.lineTo(layout.left + layout.plotWidth, Math.round(cursor.y) + 0.5);
    g.stroke();
  }
  g.setLineDash([]);
}

function placeHandles(stage) {
  const { parts, layout, axis, region, view } = stage;
  const handle = (name) => parts.plot.querySelector(`[data-handle="${name}"]`);
  const inside = (x) => x >= layout.left - 1 && x <= layout.left + layout.plotWidth + 1;
  const set = (element, shown, x, y, now, words, most) => {
    element.hidden = !shown;
    if (!shown) return;
    element.style.transform = `translate(${x}px, ${y}px)`;
    element.setAttribute("aria-valuemin", "0");
    element.setAttribute("aria-valuemax", String(most));
    element.setAttribute("aria-valuenow", String(now));
    element.setAttribute("aria-valuetext", words);
  };
  for (const edge of ["start", "end"]) {
    const time = region?.[edge] ?? 0;
    const x = axis.x(time);
    set(handle(edge), Boolean(view && region && inside(x)), x, layout.wave.y, time, `${time.toFixed(2)} seconds`, axis.duration);
    handle(edge).style.height = `${layout.wave.h}px`;
  }
  const centre = region ? clamp((axis.x(region.start) + axis.x(region.end)) / 2, layout.left, layout.left + layout.plotWidth) : 0;
  const visible = region && region.end > axis.t0 && region.start < axis.t1;
  for (const edge of ["low", "high"]) {
    if (!view) return void (handle("low").hidden = handle("high").hidden = true);
    const frequency = stage.bandShown()[edge === "low" ? 0 : 1];
    set(handle(edge), Boolean(visible), centre, stage.frequencyY(frequency), frequency, hertz(frequency), view.spectrogram.f_hi);
    handle(edge).dataset.label = stage.band ? hertz(frequency) : "";
    // The label stands outside the band, unless there is no room.
    const room = edge === "low" ? layout.spec.y + layout.spec.h - stage.frequencyY(frequency) : stage.frequencyY(frequency) - layout.spec.y;
    handle(edge).classList.toggle("inward", room < 26);
  }
}

const scoresAt = (view, index) => view.curves.map((curve) => `${curve.text} ${signed(curve.scores[index])}`).join(", ");

function showReadout(stage) {
  const { cursor, view, axis, layout, pointers, parts } = stage;
  const say = (words) => (parts.readout.textContent = words);
  if (!view) return say("");
  if (!cursor || cursor.x < layout.left || cursor.x > layout.left + layout.plotWidth) return say("");
  const time = axis.inClip(cursor.x);
  const lane = pointers.lane(cursor.y);
  const { whole, part } = stage.shownPictures();
  if (lane === "spec" && whole) {
    const picture = part && time >= part.start && time < part.end ? part : whole;
    const frequency = stage.frequencyAt(cursor.y);
    const level = levelAt(picture, view.spectrogram, time, frequency);
    return say(`${time.toFixed(2)} s   ${hertz(frequency)}   ${level === null ? `below ${decibel(view.spectrogram.db_min)}` : decibel(level)}`);
  }
  if ((lane === "score" || lane === "rows") && view.curves.length) {
    const index = lane === "rows" ? pointers.bracketAt(cursor) : stage.windowAt(time);
    const { start, end } = stage.windowSpan(index);
    return say(`${spanText(start, end)}:  ${scoresAt(view, index)}`);
  }
  if (lane === "wave" && whole) {
    const { low, high } = envelope(stage.shownPictures().waveform, time, time + axis.span / axis.width, 1);
    const peak = Math.max(Math.abs(low[0]), Math.abs(high[0]));
    return say(`${time.toFixed(2)} s   peak ${peak > 0 ? `${fixed(20 * Math.log10(peak), 1)} dBFS` : "silent"}`);
  }
  return say(`${time.toFixed(2)} s`);
}
