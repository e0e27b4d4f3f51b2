// Drawing. Every function takes the canvas context, the layout and the view; none keeps state.

const MARKS = ["circle", "square", "triangle", "diamond"];
const FONT = 13;

function palette(element) {
  const style = getComputedStyle(element);
  const read = (name) => style.getPropertyValue(`--stage-${name}`).trim();
  const names = ["ink", "quiet", "line", "plot", "wave", "ghost", "present", "absent", "hatch", "select", "head", "font"];
  return Object.fromEntries(names.map((name) => [name, read(name)]));
}

// Where each lane lies, in CSS pixels.
function layoutFor(width, curveCount) {
  const narrow = width < 560;
  const left = narrow ? 40 : 52;
  const right = narrow ? 54 : 58;
  const row = narrow ? 38 : 24; // where it is narrow a concept's words stand above its bracket
  const heights = { ruler: 24, wave: narrow ? 72 : 84, spec: narrow ? 160 : 200, rows: row * Math.max(2, curveCount), score: narrow ? 120 : 140 };
  const layout = { width, narrow, left, right, row, plotWidth: Math.max(40, width - left - right) };
  let y = 0;
  for (const [name, gap] of [["ruler", 0], ["wave", 0], ["spec", 6], ["rows", 6], ["score", 0]]) {
    y += gap;
    layout[name] = { y, h: heights[name] };
    y += heights[name];
  }
  layout.height = y + 8;
  return layout;
}

function drawRuler(g, layout, axis, colours) {
  const { y, h } = layout.ruler;
  const step = timeStep((axis.span / axis.width) * (layout.narrow ? 76 : 92));
  g.strokeStyle = colours.line;
  g.fillStyle = colours.quiet;
  g.textAlign = "center";
  g.textBaseline = "middle";
  for (let n = Math.ceil(axis.t0 / step - 1e-6); n * step <= axis.t1 + 1e-9; n++) {
    const x = Math.round(axis.x(n * step)) + 0.5;
    g.beginPath();
    g.moveTo(x, y + h - 5);
    g.lineTo(x, y + h);
    g.stroke();
    const label = timeLabel(n * step, step);
    const half = g.measureText(label).width / 2;
    g.fillText(label, clamp(x, layout.left - 24 + half, layout.width - half), y + h / 2 - 2);
  }
}

function drawWave(g, layout, axis, picture, ghost, top, colours) {
  const { y, h } = layout.wave;
  const columns = Math.round(layout.plotWidth * 2);
  const middle = y + h / 2;
  const fill = (shape, colour) => {
    g.fillStyle = colour;
    g.beginPath();
    for (let column = 0; column < columns; column++) {
      const upper = middle - (shape.high[column] / top) * (h / 2 - 2);
      const lower = middle - (shape.low[column] / top) * (h / 2 - 2);
      g.rect(layout.left + column / 2, upper, 0.5, Math.max(0.75, lower - upper));
    }
    g.fill();
  };
  if (ghost) fill(envelope(ghost, axis.t0, axis.t1, columns), colours.ghost);
  fill(envelope(picture, axis.t0, axis.t1, columns), colours.wave);
  g.fillStyle = colours.quiet;
  g.textAlign = "right";
  g.textBaseline = "middle";
  g.fillText("0", layout.left - 6, middle);
  g.fillText(top >= 0.0995 ? top.toFixed(2) : top.toPrecision(1), layout.left - 6, y + 8);
}

function drawSpectrogram(g, layout, axis, pictures, spectrogram, bar, colours) {
  const { y, h } = layout.spec;
  g.save();
  g.beginPath();
  g.rect(layout.left, y, layout.plotWidth, h);
  g.clip();
  g.imageSmoothingEnabled = true;
  g.imageSmoothingQuality = "high";
  for (const picture of pictures) {
    const x0 = axis.x(picture.start);
    g.drawImage(picture.image, x0, y, axis.x(picture.end) - x0, h);
  }
  g.restore();
  g.fillStyle = colours.quiet;
  g.strokeStyle = colours.line;
  g.textAlign = "right";
  g.textBaseline = "middle";
  let last = Infinity;
  for (const frequency of [100, 250, 500, 1000, 2000, 4000, 8000, 16000]) {
    if (frequency >= spectrogram.f_hi) break;
    const at = y + h - (toMel(frequency) / toMel(spectrogram.f_hi)) * h;
    if (last - at < 18 || at < y + 20) continue;
    last = at;
    g.beginPath();
    g.moveTo(layout.left - 4, Math.round(at) + 0.5);
    g.lineTo(layout.left, Math.round(at) + 0.5);
    g.stroke();
    g.fillText(frequency >= 1000 ? `${frequency / 1000}k` : `${frequency}`, layout.left - 6, at);
  }
  g.fillText("Hz", layout.left - 6, y + 7);
  const x = layout.left + layout.plotWidth + 6;
  g.drawImage(bar, x, y, 8, h);
  g.textAlign = "left";
  const { db_min: floor, db_max: ceiling } = spectrogram;
  const step = (ceiling - floor) / h > 0.6 ? 40 : 20;
  for (let level = Math.ceil(floor / step) * step; level <= ceiling; level += step) {
    const at = y + h - ((level - floor) / (ceiling - floor)) * h;
    if (at > y + h - 7 || at < y + 20) continue;
    g.fillText(fixed(level, 0), x + 11, at);
  }
  g.fillText("dB", x + 11, y + 7);
}

function hatch(g, x, y, width, height, colour, ratio) {
  const tile = document.createElement("canvas");
  tile.width = tile.height = Math.round(8 * ratio);
  const t = tile.getContext("2d");
  t.strokeStyle = colour;
  t.lineWidth = 1.6 * ratio;
  const s = tile.width;
  for (const shift of [-s, 0, s]) t.moveTo(shift, s), t.lineTo(shift + s, 0);
  t.stroke();
  const pattern = g.createPattern(tile, "repeat");
  pattern.setTransform(new DOMMatrix().scale(1 / ratio));
  g.fillStyle = pattern;
  g.fillRect(x, y, width, height);
  g.strokeStyle = colour;
  g.lineWidth = 1.5;
  g.strokeRect(x + 0.75, y + 0.75, Math.max(0, width - 1.5), Math.max(0, height - 1.5));
}
