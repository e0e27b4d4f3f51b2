// The evidence: score curves, what a control gave, and for each concept a bracket over its best window.

function scoreRange(curves) {
  const values = [];
  for (const curve of curves) {
    values.push(...curve.scores, ...(curve.after || []));
    if (curve.best) values.push(curve.best.score);
    if (curve.control) values.push(curve.control.mean - curve.control.sd, curve.control.mean + curve.control.sd);
  }
  const known = values.filter((value) => value !== null);
  if (!known.length) return { low: 0, high: 1 };
  const low = Math.min(0, ...known);
  const high = Math.max(...known, low + 0.05);
  return { low: low - (low < 0 ? (high - low) * 0.06 : 0), high: high + (high - low) * 0.06 };
}

function drawMark(g, shape, x, y, size) {
  g.beginPath();
  if (shape === "circle") g.arc(x, y, size, 0, 2 * Math.PI);
  if (shape === "square") g.rect(x - size * 0.9, y - size * 0.9, size * 1.8, size * 1.8);
  if (shape === "triangle") g.moveTo(x, y - size * 1.2), g.lineTo(x + size * 1.15, y + size * 0.8), g.lineTo(x - size * 1.15, y + size * 0.8), g.closePath();
  if (shape === "diamond") g.moveTo(x, y - size * 1.3), g.lineTo(x + size * 1.3, y), g.lineTo(x, y + size * 1.3), g.lineTo(x - size * 1.3, y), g.closePath();
}

function drawCurve(g, axis, curve, values, centre, toY, style) {
  const points = [];
  for (let n = 0; n < values.length; n++) {
    const at = curve.starts[n] + centre;
    points.push(values[n] === null ? null : [axis.x(at), toY(values[n])]);
  }
  g.save();
  g.strokeStyle = g.fillStyle = style.colour;
  g.globalAlpha = style.alpha;
  g.lineWidth = style.width;
  g.setLineDash(style.dash);
  g.beginPath();
  let pen = false;
  for (const point of points) {
    if (!point) pen = false;
    else if (pen) g.lineTo(...point);
    else g.moveTo(...point), (pen = true);
  }
  g.stroke();
  g.setLineDash([]);
  const spacing = points.length > 1 && points[0] && points[1] ? points[1][0] - points[0][0] : 99;
  if (spacing > 12) {
    for (const point of points) {
      if (!point) continue;
      drawMark(g, style.mark, point[0], point[1], style.hollow ? 3.2 : 3);
      if (style.hollow) (g.fillStyle = style.ground), g.fill(), (g.lineWidth = 1.5), g.stroke();
      else g.fill();
    }
  }
  g.restore();
}

function drawScores(g, layout, axis, view, colours) {
  const { y, h } = layout.score;
  const range = scoreRange(view.curves);
  const toY = (score) => y + h - ((score - range.low) / (range.high - range.low)) * h;
  g.textAlign = "right";
  g.textBaseline = "middle";
  const step = niceStep((range.high - range.low) / (h / 34));
  for (let n = Math.ceil(range.low / step - 1e-6); n * step <= range.high; n++) {
    const at = Math.round(toY(n * step)) + 0.5;
    g.strokeStyle = colours.line;
    g.lineWidth = n === 0 ? 1.5 : 0.5;
    g.beginPath();
    g.moveTo(layout.left, at);
    g.lineTo(layout.left + layout.plotWidth, at);
    g.stroke();
    g.fillStyle = colours.quiet;
    if (at < y + h - 2 || n === 0) g.fillText(fixed(n * step, step < 0.095 ? 2 : 1), layout.left - 6, clamp(at, y + 6, y + h - 6));
  }
  g.save();
  g.beginPath();
  g.rect(layout.left, y - 2, layout.plotWidth, h + 4);
  g.clip();
  view.curves.forEach((curve, n) => {
    const present = curve.polarity === "present";
    const style = {
      colour: present ? colours.present : colours.absent, dash: present ? [] : [7, 5], width: 2.25, alpha: 1,
      mark: MARKS[n % MARKS.length], ground: colours.plot,
    };
    const centre = view.windows.length / 2;
    if (curve.after) {
      drawCurve(g, axis, curve, curve.scores, centre, toY, { ...style, alpha: 0.35 });
      drawCurve(g, axis, curve, curve.after, centre, toY, { ...style, hollow: true });
    } else drawCurve(g, axis, curve, curve.scores, centre, toY, style);
    if (curve.control && curve.best) drawControl(g, axis.x((curve.best.start + curve.best.end) / 2), toY, curve.control, colours);
  });
  g.restore();
}

function drawControl(g, x, toY, control, colours) {
  const [top, bottom] = [toY(control.mean + control.sd), toY(control.mean - control.sd)];
  g.strokeStyle = g.fillStyle = colours.quiet;
  g.lineWidth = 2;
  g.beginPath();
  for (const at of [top, bottom]) g.moveTo(x - 5, at), g.lineTo(x + 5, at);
  g.moveTo(x, top);
  g.lineTo(x, bottom);
  g.stroke();
  drawMark(g, "circle", x, toY(control.mean), 4);
  g.fill();
}

// One bracket row a concept: where it was found best, and how surely. Rows never collide.
function drawBrackets(g, layout, axis, view, colours) {
  g.save();
  g.beginPath();
  g.rect(layout.left, layout.rows.y, layout.plotWidth, layout.rows.h);
  g.clip();
  g.textBaseline = "middle";
  view.curves.forEach((curve, n) => {
    const top = layout.rows.y + layout.row * n;
    const box = curve.best ? { x0: axis.x(curve.best.start), x1: axis.x(curve.best.end) } : null;
    if (box) drawBracket(g, box.x0, box.x1, top + (layout.narrow ? 24 : 8), curve.polarity === "present", colours);
    drawFinding(g, layout, curve, MARKS[n % MARKS.length], top, box, colours);
  });
  g.restore();
}

function drawBracket(g, x0, x1, y, present, colours) {
  g.strokeStyle = present ? colours.present : colours.absent;
  g.lineWidth = 2.5;
  g.beginPath();
  for (const x of [x0 + 1.5, x1 - 1.5]) g.moveTo(x, y), g.lineTo(x, y + 10);
  g.stroke();
  g.setLineDash(present ? [] : [6, 4]);
  g.beginPath();
  g.moveTo(x0 + 0.5, y);
  g.lineTo(x1 - 0.5, y);
  g.stroke();
  g.setLineDash([]);
}

// What is said of a concept: its words, and the number of its best window; an arrow if that is out of view.
function finding(layout, curve, box) {
  const { best } = curve;
  if (!best) return "no window";
  const number = `${signed(best.score)}${best.z === null ? "" : ` (z ${signed(best.z, 1)})`}`;
  if (box.x1 <= layout.left) return `${number} \u2190 ${spanText(best.start, best.end)}`;
  if (box.x0 >= layout.left + layout.plotWidth) return `${number} ${spanText(best.start, best.end)} \u2192`;
  return number;
}

// Beside the bracket where there is room, else before it, else across it; where it is narrow, above it, with
// the numbers on whichever side of the bracket is free if they do not fit behind the words.
function drawFinding(g, layout, curve, mark, top, box, colours) {
  const present = curve.polarity === "present";
  const { left, plotWidth, narrow } = layout;
  const right = left + plotWidth;
  const number = finding(layout, curve, box);
  const gap = 10;
  const numberWide = g.measureText(number).width;
  const below = narrow && box && g.measureText(curve.text).width + numberWide + gap + 26 > plotWidth;
  const words = shortened(g, curve.text, Math.max(40, plotWidth - 30 - (below ? 0 : numberWide + gap)));
  const wide = g.measureText(words).width;
  const whole = wide + gap + numberWide + 22;
  let x = left + 6;
  if (!narrow && box) {
    x = box.x1 + 8;
    if (x + whole > right) x = box.x0 - whole - 2;
    if (x < left + 2) x = box.x1 - whole - 8;
    x = clamp(x, left + 4, Math.max(left + 4, right - whole));
  }
  const middle = top + (narrow ? 11 : 13);
  const ground = (at, width, y) => ((g.fillStyle = colours.plot), g.fillRect(at - 2, y - 9, width, 18));
  if (!narrow) ground(x, whole, middle);
  g.fillStyle = present ? colours.present : colours.absent;
  drawMark(g, mark, x + 6, middle, 4.5);
  g.fill();
  if (!present) g.fillRect(x + 15, middle - 0.5, wide + 4, 1.5);
  g.textAlign = "left";
  const beside = below && box.x1 + 6 + numberWide > right ? Math.max(left + 4, box.x0 - 6 - numberWide) : box?.x1 + 6;
  if (below) ground(beside, numberWide + 4, top + 30);
  g.fillStyle = colours.ink;
  g.fillText(words, x + 17, middle + 0.5);
  if (below) g.fillText(number, Math.max(left + 4, beside), top + 30);
  else g.fillText(number, x + 17 + wide + gap, middle + 0.5);
}

function shortened(g, words, most) {
  if (g.measureText(words).width <= most) return words;
  let letters = [...words];
  while (letters.length > 1 && g.measureText(`${letters.join("")}\u2026`).width > most) letters = letters.slice(0, -1);
  return `${letters.join("")}\u2026`;
}
