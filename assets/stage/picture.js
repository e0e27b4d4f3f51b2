// Waveform and spectrogram from the server's numbers. Levels stay numbers: colour is a look-up made here,
// and the read-out under the cursor is the level itself, not a guess from a pixel.

async function inflate(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// A packed array travels as base64 text, or as a file of the same bytes.
async function unpack(packed) {
  if (typeof packed === "string") return inflate(Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0)));
  const answer = await fetch(packed.url);
  if (!answer.ok) throw new Error(`the picture did not arrive (${answer.status})`);
  return inflate(new Uint8Array(await answer.arrayBuffer()));
}

const pictures = new Map();
function kept(key, make) {
  if (!pictures.has(key)) {
    const job = make();
    job.catch(() => pictures.delete(key));
    pictures.set(key, job);
    if (pictures.size > 24) pictures.delete(pictures.keys().next().value);
  }
  return pictures.get(key);
}
const keyOf = (packed) => (typeof packed === "string" ? packed : packed.url);

// Colours are bytes r, g, b for 256 levels.
function coloured(levels, columns, rows, colours) {
  const canvas = document.createElement("canvas");
  canvas.width = columns;
  canvas.height = rows;
  const context = canvas.getContext("2d");
  const image = context.createImageData(columns, rows);
  for (let column = 0; column < columns; column++) {
    for (let row = 0; row < rows; row++) {
      const level = levels[column * rows + row] * 3;
      const pixel = ((rows - 1 - row) * columns + column) * 4;
      image.data[pixel] = colours[level];
      image.data[pixel + 1] = colours[level + 1];
      image.data[pixel + 2] = colours[level + 2];
      image.data[pixel + 3] = 255;
    }
  }
  context.putImageData(image, 0, 0);
  return canvas;
}

async function openPeaks(packed, scale) {
  const bytes = await unpack(packed);
  return { values: new Int16Array(bytes.buffer, 0, bytes.length >> 1), scale };
}

// One version's picture over [start, end] seconds.
async function openPicture(peaks, levels, rows, colours, start, end) {
  const columns = levels.length / rows;
  return { peaks, levels, rows, columns, image: coloured(levels, columns, rows, colours), start, end };
}

async function originalPicture(view, colours) {
  const { peaks, spectrogram, clip } = view;
  return kept(keyOf(spectrogram.original), async () => {
    const [envelope, levels] = await Promise.all([openPeaks(peaks.original, peaks.scale), unpack(spectrogram.original)]);
    return openPicture(envelope, levels, spectrogram.rows, colours, 0, clip.duration);
  });
}

// A cut's picture is the original's except for the columns the cut changed.
async function cutPicture(view, colours) {
  const { peaks, spectrogram, clip } = view;
  if (!spectrogram.cut) return null;
  const original = await originalPicture(view, colours);
  return kept(`${keyOf(spectrogram.original)} ${keyOf(peaks.cut)} ${keyOf(spectrogram.cut.columns)}`, async () => {
    const [envelope, patch] = await Promise.all([openPeaks(peaks.cut, peaks.scale), unpack(spectrogram.cut.columns)]);
    const levels = original.levels.slice();
    levels.set(patch, spectrogram.cut.first * spectrogram.rows);
    return openPicture(envelope, levels, spectrogram.rows, colours, 0, clip.duration);
  });
}

function detailPicture(answer, view, colours) {
  return Promise.all([openPeaks(answer.peaks, view.peaks.scale), unpack(answer.levels)]).then(([envelope, levels]) =>
    openPicture(envelope, levels, view.spectrogram.rows, colours, answer.start, answer.end),
  );
}

// Least and greatest sample shown in each of `columns` pixels between two times.
function envelope(picture, from, to, columns) {
  const { values, scale } = picture.peaks;
  const bins = values.length >> 1;
  const perSecond = bins / (picture.end - picture.start);
  const low = new Float32Array(columns);
  const high = new Float32Array(columns);
  for (let column = 0; column < columns; column++) {
    const a = (from + ((to - from) * column) / columns - picture.start) * perSecond;
    const b = (from + ((to - from) * (column + 1)) / columns - picture.start) * perSecond;
    let least = Infinity;
    let most = -Infinity;
    for (let bin = Math.max(0, Math.floor(a)); bin < Math.min(bins, Math.max(Math.ceil(b), Math.floor(a) + 1)); bin++) {
      least = Math.min(least, values[2 * bin]);
      most = Math.max(most, values[2 * bin + 1]);
    }
    low[column] = least === Infinity ? 0 : (least / 32767) * scale;
    high[column] = most === -Infinity ? 0 : (most / 32767) * scale;
  }
  return { low, high };
}

// The level in dB at a time and a frequency; null at or below the floor of the picture.
function levelAt(picture, spectrogram, time, frequency) {
  const share = (time - picture.start) / (picture.end - picture.start);
  const column = clamp(Math.floor(share * picture.columns), 0, picture.columns - 1);
  const row = clamp(Math.floor((toMel(frequency) / toMel(spectrogram.f_hi)) * picture.rows), 0, picture.rows - 1);
  const level = picture.levels[column * picture.rows + row];
  if (level === 0) return null;
  return spectrogram.db_min + (level / 255) * (spectrogram.db_max - spectrogram.db_min);
}
