/* Every visible text and control border under a root that is too faint against what lies behind it (WCAG 2.2, 1.4.3 and
1.4.11). Disabled controls and pictures are exempt there; dimmed old results are only there until the new one is. */
() => {
  const context = Object.assign(document.createElement('canvas'), { width: 1, height: 1 }).getContext('2d', { willReadFrequently: true });
  const rgba = (text) => {
    context.clearRect(0, 0, 1, 1);
    context.fillStyle = text;
    context.fillRect(0, 0, 1, 1);
    const [red, green, blue, alpha] = context.getImageData(0, 0, 1, 1).data;
    return [red, green, blue, alpha / 255];
  };
  const over = ([r, g, b, a], [R, G, B]) => [r * a + R * (1 - a), g * a + G * (1 - a), b * a + B * (1 - a), 1];
  const ground = (element) => {
    const layers = [];
    for (let at = element; at; at = at.parentElement) {
      const color = rgba(getComputedStyle(at).backgroundColor);
      if (color[3] > 0) layers.push(color);
      if (color[3] === 1) break;
    }
    return layers.reverse().reduce((below, layer) => over(layer, below), [255, 255, 255, 1]);
  };
  const light = ([r, g, b]) => [r, g, b].map((part) => part / 255).map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
    .reduce((sum, part, at) => sum + part * [0.2126, 0.7152, 0.0722][at], 0);
  const ratio = (one, other) => {
    const [high, low] = [light(one), light(other)].sort((a, b) => b - a);
    return (high + 0.05) / (low + 0.05);
  };
  const faded = (element) => { let share = 1; for (let at = element; at; at = at.parentElement) share *= Number(getComputedStyle(at).opacity); return share; };
  const found = new Map();
  const say = (element, kind, value, needed, one, other) => {
    if (value >= needed) return;
    const name = `${kind} ${element.tagName.toLowerCase()}${element.id && !/\d/.test(element.id) ? '#' + element.id : ''}.${[...element.classList].filter((part) => !part.startsWith('svelte')).join('.')}`;
    const hex = (color) => '#' + color.slice(0, 3).map((part) => Math.round(part).toString(16).padStart(2, '0')).join('');
    if (!found.has(name)) found.set(name, `${name} “${element.textContent.trim().slice(0, 24)}” ${hex(one)} on ${hex(other)}: ${value.toFixed(2)} < ${needed}`);
  };
  for (const element of document.querySelectorAll('body *')) {
    if (element.closest('svg, canvas, [disabled], [aria-disabled="true"], .stage-unseen')) continue;
    if (!element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
    const box = element.getBoundingClientRect();
    if (box.width < 2 || box.height < 2) continue;
    const style = getComputedStyle(element);
    const below = ground(element);
    const written = element.matches('input:is([type=text], [type=number], :not([type])), textarea') ? element.value : [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    if (written) {
      const [r, g, b, a] = rgba(style.color);
      const ink = over([r, g, b, a * faded(element)], below);
      const large = parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.66 && Number(style.fontWeight) >= 700);
      say(element, 'text', ratio(ink, below), large ? 3 : 4.5, ink, below);
    }
    // A control that is known by its frame alone; a fill of its own, or words without a frame, need none.
    if (element.matches('button, input:not([type=range]):not([type=file]), select, textarea, .chip') && parseFloat(style.borderTopWidth) > 0 && box.width > 4) {
      const outside = ground(element.parentElement);
      const frame = over(rgba(style.borderTopColor), outside);
      const best = Math.max(ratio(frame, outside), ratio(below, outside));
      say(element, 'frame', best, 3, frame, outside);
    }
  }
  return [...found.values()];
}
