// Playing: original and cut on one clock, at the levels they have.
//
// A short clip is decoded once and both versions run together, sample for sample; the switch is a
// crossfade between them (of two equal signals it changes nothing). A long one streams, because ten
// decoded minutes would not fit a phone. The position is always the audio clock's, never a timer's.

const DECODE_SECONDS = 60;
const FADE_SECONDS = 0.005;
const LEAD_SECONDS = 0.02;

const decoded = new Map();

function decode(url, sampleRate) {
  if (!decoded.has(url)) {
    // An offline context at the file's own rate decodes without resampling and needs no user gesture.
    const rate = clamp(sampleRate, 8000, 96000);
    const job = fetch(url)
      .then((answer) => {
        if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
        return answer.arrayBuffer();
      })
      .then((bytes) => new OfflineAudioContext(1, 1, rate).decodeAudioData(bytes));
    job.catch(() => decoded.delete(url));
    decoded.set(url, job);
    if (decoded.size > 6) decoded.delete(decoded.keys().next().value);
  }
  return decoded.get(url);
}

let sharedContext = null;

function audioContext() {
  if (!sharedContext) {
    sharedContext = new AudioContext();
    // Else an iPhone's silent switch mutes what is clearly meant to be heard.
    if (navigator.audioSession) navigator.audioSession.type = "playback";
  }
  return sharedContext;
}

class DecodedSound {
  constructor(urls, sampleRate, duration, changed) {
    Object.assign(this, { urls, sampleRate, duration, changed });
    this.version = "original";
    this.speed = 1;
    this.loop = null;
    this.rest = 0; // where the playhead stands while nothing plays
    this.anchor = null; // {at, from, until, loop}: context time and position where playing began
    this.voices = {};
    for (const version of ["original", "cut"]) if (urls[version]) decode(urls[version], sampleRate).catch(() => {});
  }
  get playing() {
    return this.anchor !== null;
  }
  positionAt(contextTime) {
    const { at, from, until, loop } = this.anchor;
    const position = from + Math.max(0, contextTime - at) * this.speed;
    if (loop && position >= loop.end) return loop.start + ((position - loop.start) % (loop.end - loop.start));
    return Math.min(position, until);
  }
  get position() {
    if (!this.anchor) return this.rest;
    const context = audioContext();
    // What is heard now left the graph one output latency ago.
    return this.positionAt(context.currentTime - (context.outputLatency || 0));
  }
  async play(from, until = this.duration) {
    const context = audioContext();
    const attempt = (this.attempt = (this.attempt || 0) + 1);
    // Loading both first keeps them in step; a version that cannot be had must not silence the other.
    const [original, cut] = await Promise.all(
      ["original", "cut"].map((name) => (this.urls[name] ? decode(this.urls[name], this.sampleRate).catch(() => null) : null)),
    );
    if (context.state !== "running") await context.resume();
    if (attempt !== this.attempt) return;
    if (!original) throw new Error("The sound could not be loaded; check the connection and press play again.");
    this.silence();
    const at = context.currentTime + LEAD_SECONDS;
    const loop = this.loop && until === this.duration ? { ...this.loop } : null;
    this.anchor = { at, from, until, loop };
    this.begin("original", original, at, from);
    if (cut) this.begin("cut", cut, at, from);
    this.changed();
  }
  begin(version, buffer, at, from) {
    const context = audioContext();
    const source = context.createBufferSource();
    const gain = context.createGain();
    source.buffer = buffer;
    source.playbackRate.value = this.speed;
    gain.gain.value = version === this.version ? 1 : 0;
    source.connect(gain).connect(context.destination);
    const { until, loop } = this.anchor;
    if (loop) {
      Object.assign(source, { loop: true, loopStart: loop.start, loopEnd: loop.end });
      source.start(at, from);
    } else {
      source.start(at, from, Math.max(0.001, until - from));
    }
    source.onended = () => {
      if (this.voices.original?.source === source) this.stopAt(this.anchor.until);
    };
    this.voices[version] = { source, gain };
  }
  silence() {
    for (const { source } of Object.values(this.voices)) {
      source.onended = null;
      source.stop();
      source.disconnect();
    }
    this.voices = {};
  }
  stopAt(position) {
    this.silence();
    this.anchor = null;
    this.rest = clamp(position, 0, this.duration);
    this.changed();
  }
  pause() {
    this.attempt = (this.attempt || 0) + 1;
    if (this.anchor) this.stopAt(this.position);
  }
  seek(position) {
    if (this.anchor) return this.play(position);
    this.rest = clamp(position, 0, this.duration);
    return this.changed();
  }
  setVersion(version) {
    this.version = version;
    const context = audioContext();
    for (const [name, { gain }] of Object.entries(this.voices)) {
      const level = gain.gain;
      level.cancelScheduledValues(context.currentTime);
      level.setValueAtTime(level.value, context.currentTime);
      level.linearRampToValueAtTime(name === version ? 1 : 0, context.currentTime + FADE_SECONDS);
    }
    this.changed();
  }
  setSpeed(speed) {
    if (this.anchor) {
      const now = audioContext().currentTime;
      this.anchor = { ...this.anchor, from: this.positionAt(now), at: Math.max(now, this.anchor.at) };
      for (const { source } of Object.values(this.voices)) source.playbackRate.setValueAtTime(speed, now);
    }
    this.speed = speed;
    this.changed();
  }
  setLoop(loop) {
    this.loop = loop;
    if (!this.anchor) return this.changed();
    const position = this.position;
    return this.play(loop && (position < loop.start || position >= loop.end) ? loop.start : position);
  }
  async setCut(url) {
    // The cut changes under a running original: the new voice joins in step, the old one plays until then.
    this.urls = { ...this.urls, cut: url };
    if (!url) {
      if (this.version === "cut") this.setVersion("original");
      const voice = this.voices.cut;
      delete this.voices.cut;
      voice?.source.stop();
      return;
    }
    const buffer = await decode(url, this.sampleRate).catch(() => null);
    if (!buffer || this.urls.cut !== url || !this.anchor) return;
    const old = this.voices.cut;
    const at = audioContext().currentTime + LEAD_SECONDS;
    const from = this.positionAt(at);
    if (!this.anchor.loop && from >= this.anchor.until - 0.01) return;
    this.begin("cut", buffer, at, from);
    old?.source.stop(at);
  }
  dispose() {
    this.changed = () => {};
    this.pause();
  }
}

class StreamedSound {
  constructor(urls, duration, changed) {
    Object.assign(this, { duration, changed });
    this.version = "original";
    this.speed = 1;
    this.loop = null;
    this.until = duration;
    this.voices = {};
    this.wanted = false;
    this.load("original", urls.original);
    if (urls.cut) this.load("cut", urls.cut);
  }
  load(version, url) {
    const voice = new Audio();
    voice.preload = version === "original" ? "auto" : "metadata";
    voice.preservesPitch = false;
    voice.playbackRate = this.speed;
    voice.src = url;
    voice.addEventListener("timeupdate", () => this.watchEnd());
    voice.addEventListener("ended", () => voice === this.voice && this.finish());
    this.voices[version]?.pause();
    this.voices[version] = voice;
  }
  get voice() {
    return this.voices[this.version] || this.voices.original;
  }
  get playing() {
    return this.wanted;
  }
  get position() {
    this.watchEnd();
    return Math.min(this.voice.currentTime, this.duration);
  }
  watchEnd() {
    if (!this.wanted) return;
    const now = this.voice.currentTime;
    if (this.loop && this.until === this.duration && now >= this.loop.end) this.voice.currentTime = this.loop.start;
    else if (this.until < this.duration && now >= this.until) this.finish();
  }
  finish() {
    this.wanted = false;
    this.voice.pause();
    this.changed();
  }
  async play(from, until = this.duration) {
    this.until = until;
    this.voice.currentTime = from;
    this.wanted = true;
    this.changed();
    try {
      await this.voice.play();
    } catch (error) {
      if (error.name === "AbortError") return;
      this.wanted = false;
      this.changed();
      throw new Error("The sound could not be loaded; check the connection and press play again.");
    }
  }
  pause() {
    if (this.wanted) this.finish();
  }
  seek(position) {
    this.until = this.duration;
    this.voice.currentTime = clamp(position, 0, this.duration);
    this.changed();
  }
  setVersion(version) {
    const before = this.voice;
    this.version = version;
    const after = this.voice;
    if (before === after) return this.changed();
    after.currentTime = before.currentTime;
    if (this.wanted) {
      const swap = () => {
        // Seeking took time in which the first went on: meet it where it is now.
        if (Math.abs(after.currentTime - before.currentTime) > 0.15) after.currentTime = before.currentTime;
        before.pause();
      };
      after.play().then(swap, () => this.finish());
    }
    return this.changed();
  }
  setSpeed(speed) {
    this.speed = speed;
    for (const voice of Object.values(this.voices)) voice.playbackRate = speed;
    this.changed();
  }
  setLoop(loop) {
    this.loop = loop;
    const position = this.voice.currentTime;
    if (loop && this.wanted && (position < loop.start || position >= loop.end)) this.voice.currentTime = loop.start;
    this.changed();
  }
  setCut(url) {
    const position = this.voice.currentTime;
    const heard = this.version === "cut" && this.wanted;
    if (this.version === "cut" && !url) this.setVersion("original");
    this.voices.cut?.pause();
    delete this.voices.cut;
    if (!url) return;
    this.load("cut", url);
    if (this.version === "cut") this.voice.currentTime = position;
    if (heard) this.voice.play().catch(() => this.finish());
  }
  dispose() {
    this.changed = () => {};
    for (const voice of Object.values(this.voices)) {
      voice.pause();
      voice.removeAttribute("src");
      voice.load();
    }
  }
}

function openSound(audio, clip, changed) {
  if (clip.duration <= DECODE_SECONDS) return new DecodedSound(audio, clip.sample_rate, clip.duration, changed);
  return new StreamedSound(audio, clip.duration, changed);
}
