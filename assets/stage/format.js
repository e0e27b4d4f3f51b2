// Numbers as people read them: a sign where a sign matters, a unit everywhere.

const MINUS = "\u2212";
const NONE = "\u2013";

const fixed = (value, digits) =>
  value === null || value === undefined ? NONE : (value < 0 ? MINUS : "") + Math.abs(value).toFixed(digits);
const signed = (value, digits = 3) =>
  value === null || value === undefined ? NONE : (value < 0 ? MINUS : "+") + Math.abs(value).toFixed(digits);
const decibel = (value) => `${fixed(value, 1)} dB`;
const clamp = (value, low, high) => Math.min(Math.max(value, low), high);

function clock(seconds) {
  // Hundredths are cut, not rounded: 59.999 s must not read 00:60.00.
  const hundredths = Math.floor(Math.max(0, seconds) * 100 + 1e-6);
  const two = (n) => String(n).padStart(2, "0");
  return `${two(Math.floor(hundredths / 6000))}:${two(Math.floor(hundredths / 100) % 60)}.${two(hundredths % 100)}`;
}

function hertz(value) {
  if (value < 1000) return `${Math.round(value)} Hz`;
  return `${(value / 1000).toFixed(value < 9950 ? 2 : 1)} kHz`;
}

// The mel scale of backend/audio/band_levels.py.
const toMel = (frequency) => 2595 * Math.log10(1 + frequency / 700);
const fromMel = (mels) => 700 * (10 ** (mels / 2595) - 1);

// Steps of 1, 2 or 5 times a power of ten, at least `least` wide.
function niceStep(least) {
  const power = 10 ** Math.floor(Math.log10(least));
  for (const factor of [1, 2, 5]) if (factor * power >= least * 0.999) return factor * power;
  return 10 * power;
}

function timeStep(least) {
  if (least < 5) return niceStep(least);
  for (const step of [5, 10, 15, 30, 60, 120, 300]) if (step >= least) return step;
  return 600;
}

function timeLabel(seconds, step) {
  if (step >= 1 && seconds >= 60) return `${Math.floor(seconds / 60)}:${String(Math.round(seconds % 60)).padStart(2, "0")}`;
  return `${seconds.toFixed(step >= 1 ? 0 : step >= 0.1 ? 1 : step >= 0.01 ? 2 : 3)} s`;
}

// "3.0" for a boundary on the half-second grid, "3.27" for one between.
const bound = (seconds) => (Math.abs(seconds * 10 - Math.round(seconds * 10)) < 1e-6 ? seconds.toFixed(1) : seconds.toFixed(2));
const spanText = (start, end) => `${bound(start)}${NONE}${bound(end)} s`;
