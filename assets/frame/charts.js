// Charts. The server makes figures; plotly draws them. Its script is large: it is fetched when the first chart is seen.
window.unheardCharts = (() => {
  const { address, palette } = window.unheardChartSettings;
  const FAILED = 'The chart cannot be drawn, because its script did not arrive. Reload the page; the numbers are in the tables and downloads.';
  const AHEAD = '1200px'; // a screen before it is scrolled to
  const SETTLED = 60; // ms
  let loading = null;
  const load = () => (loading ||= new Promise((done, failed) => {
    const script = Object.assign(document.createElement('script'), { src: address });
    script.onload = () => (window.Plotly ? done(window.Plotly) : failed());
    script.onerror = () => { loading = null; script.remove(); failed(); };
    document.head.append(script);
  }));

  // A figure has the colours of the light page; each is exchanged for what its role looks like here.
  const roles = new Map(Object.entries(palette).map(([role, colour]) => [colour.toLowerCase(), `--${role}`]));
  const themed = (value, style, name = '') => {
    if (Array.isArray(value)) return value.map((one) => themed(one, style, name));
    if (value && typeof value === 'object') return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, themed(one, style, key)]));
    const role = typeof value === 'string' && /color(scale)?$/.test(name) && roles.get(value.toLowerCase());
    return (role && style.getPropertyValue(role).trim()) || value;
  };
  const asText = (markup) => new DOMParser().parseFromString(String(markup).replaceAll('<br>', ' '), 'text/html').body.textContent;

  class Plot {
    constructor(node, pick) {
      Object.assign(this, { node, pick, figure: null, seen: false, at: -1, connected: false, zoom: {} });
      this.area = Object.assign(document.createElement('div'), { className: 'chart-area' });
      this.said = Object.assign(document.createElement('p'), { className: 'chart-said' });
      this.said.setAttribute('role', 'status');
      node.replaceChildren(this.area, this.said);
      node.tabIndex = 0;
      node.setAttribute('role', 'application');
      node.setAttribute('aria-roledescription', 'chart');
      node.addEventListener('keydown', (event) => this.key(event));
      node.addEventListener('blur', () => this.leave());
      this.watching = new IntersectionObserver((entries) => { if (entries.some((entry) => entry.isIntersecting)) { this.seen = true; this.draw(); } }, { rootMargin: AHEAD });
      this.watching.observe(node);
      this.sizing = new ResizeObserver(() => { if (this.connected && node.clientWidth && node.clientWidth !== this.width) this.draw(); });
      this.sizing.observe(node);
    }

    // Figures that follow one another quickly are drawn as the last of them: drawing each would hold the page up.
    show(figure) {
      this.figure = figure;
      clearTimeout(this.soon);
      this.soon = setTimeout(() => this.draw(), this.connected ? SETTLED : 0);
    }

    remove() {
      clearTimeout(this.soon);
      this.watching.disconnect();
      this.sizing.disconnect();
      if (this.connected) window.Plotly.purge(this.area);
    }

    layout(style) {
      const layout = themed(this.figure.layout, style);
      this.width = this.node.clientWidth;
      layout.width = this.width;
      if (layout.meta.ratio) layout.height = Math.min(580, Math.max(260, this.width * layout.meta.ratio + 40));
      for (const [axis, range] of Object.entries(this.zoom)) Object.assign(layout[axis], { range, autorange: false });
      if (matchMedia('(pointer: coarse)').matches) layout.dragmode = false; // a finger on a chart scrolls the page
      return layout;
    }

    // One drawing at a time: whatever comes meanwhile is drawn once, as it is by then.
    async draw() {
      this.stale = true;
      if (this.drawing) return;
      this.drawing = true;
      try {
        while (this.stale) { this.stale = false; await this.drawNow(); }
      } finally { this.drawing = false; }
    }

    async drawNow() {
      if (!this.seen || !this.figure || !this.node.clientWidth) return;
      let Plotly;
      try { Plotly = await load(); } catch { this.area.replaceChildren(Object.assign(document.createElement('p'), { className: 'note', textContent: FAILED })); return; }
      const style = getComputedStyle(this.node);
      const data = themed(this.figure.data, style);
      if (this.node.clientWidth < 480) data.forEach((trace) => delete trace.texttemplate); // numbers would cover each other
      await Plotly.react(this.area, data, this.layout(style), this.config(Plotly));
      if (!this.connected) this.connect();
    }

    config(Plotly) {
      const save = (format, icon) => ({
        name: `save-${format}`, title: `Download as ${format.toUpperCase()}`, icon, click: () => this.save(Plotly, format),
      });
      return {
        displaylogo: false, responsive: false,
        plotlyServerURL: '', // nothing leaves the page
        modeBarButtonsToRemove: ['sendChartToCloud', 'toImage', 'select2d', 'lasso2d', 'autoScale2d'],
        modeBarButtonsToAdd: [save('png', Plotly.Icons.camera), save('svg', Plotly.Icons.disk)],
      };
    }

    // On paper a chart is light and has its title, whatever the page looks like.
    save(Plotly, format) {
      const { data, layout } = structuredClone(this.figure);
      Object.assign(layout, { paper_bgcolor: palette.paper, title: { text: layout.meta.title, x: 0.02, font: { size: 16 } }, width: 900, height: layout.meta.ratio ? Math.round(900 * layout.meta.ratio) : 560 });
      layout.margin.t += 40;
      Plotly.downloadImage({ data, layout }, { format, width: layout.width, height: layout.height, scale: format === 'png' ? 2 : 1, filename: `unheard-${layout.meta.key}` });
    }

    connect() {
      this.connected = true;
      this.area.on('plotly_click', ({ points }) => { if (points[0]?.customdata !== undefined) this.pick(points[0].customdata); });
      // Other numbers, another theme or width must not undo a visitor's zoom.
      this.area.on('plotly_relayout', (change) => {
        for (const axis of ['xaxis', 'yaxis']) {
          if (`${axis}.range[0]` in change) this.zoom[axis] = [change[`${axis}.range[0]`], change[`${axis}.range[1]`]];
          else if (change[`${axis}.range`]) this.zoom[axis] = [...change[`${axis}.range`]];
          else if (`${axis}.autorange` in change) delete this.zoom[axis];
        }
      });
      this.area.on('plotly_hover', ({ points }) => this.node.classList.toggle('opens', points[0]?.customdata !== undefined));
      this.area.on('plotly_unhover', () => this.node.classList.remove('opens'));
    }

    // ---- the keyboard: arrows go from mark to mark, Enter opens one as a click does
    marks() {
      const marks = [];
      this.figure.data.forEach((trace, curve) => {
        if (trace.hoverinfo === 'skip') return;
        if (trace.z) trace.z.forEach((row, i) => row.forEach((z, j) => marks.push({ x: j, y: -i, to: { xval: j, yval: i }, said: trace.hovertext[i][j] })));
        else trace.x.forEach((x, i) => marks.push({ x, y: trace.y[i], to: { curveNumber: curve, pointNumber: i }, said: trace.hovertext?.[i] ?? `${x}, ${trace.y[i]}`, key: trace.customdata?.[i] }));
      });
      return marks.filter((mark) => mark.x !== null && mark.y !== null).sort((a, b) => a.x - b.x || a.y - b.y);
    }

    key(event) {
      if (!this.connected || event.target !== this.node || event.ctrlKey || event.altKey || event.metaKey) return;
      const marks = this.marks();
      const upwards = [...marks.keys()].sort((a, b) => marks[a].y - marks[b].y || marks[a].x - marks[b].x);
      const last = marks.length - 1;
      const along = (step) => Math.min(last, Math.max(0, this.at + step));
      const up = (step) => (this.at < 0 ? 0 : upwards[Math.min(last, Math.max(0, upwards.indexOf(this.at) + step))]);
      const places = { ArrowRight: () => along(1), ArrowLeft: () => along(-1), ArrowUp: () => up(1), ArrowDown: () => up(-1), Home: () => 0, End: () => last };
      if (places[event.key] && marks.length) {
        this.at = places[event.key]();
        const mark = marks[this.at];
        window.Plotly.Fx.hover(this.area, [mark.to]);
        this.said.textContent = asText(mark.said);
      } else if ((event.key === 'Enter' || event.key === ' ') && marks[this.at]?.key !== undefined) this.pick(marks[this.at].key);
      else if (event.key === 'Escape') this.leave();
      else return;
      event.preventDefault();
    }

    leave() {
      if (this.connected) window.Plotly.Fx.unhover(this.area);
      this.at = -1;
    }
  }

  const plots = new Set();
  const again = () => plots.forEach((plot) => plot.draw());
  const watchTheme = () => new MutationObserver(again).observe(document.body, { attributes: true, attributeFilter: ['class'] });
  if (document.body) watchTheme(); else document.addEventListener('DOMContentLoaded', watchTheme);

  // One gr.HTML with words and charts: a chart whose words change stays the same chart, with its zoom.
  function connect(element, props, watch, trigger) {
    const host = element.querySelector('.charts'), mine = new Map();
    let words = '';
    const pick = (key) => trigger('select', { key: Number(key) });
    host.addEventListener('click', (event) => { const button = event.target.closest('[data-key]'); if (button) pick(button.dataset.key); });
    const place = (node) => {
      const name = node.dataset.chart, said = node.dataset.said;
      if (mine.has(name)) { node.replaceWith(mine.get(name).node); mine.get(name).node.dataset.said = said; }
      else { mine.set(name, new Plot(node, pick)); plots.add(mine.get(name)); }
      mine.get(name).node.setAttribute('aria-label', `${said}. Arrow keys go from mark to mark.`);
    };
    const show = () => {
      const { html = '', figures = {} } = props.value ? JSON.parse(props.value) : {};
      if (html !== words) {
        words = html;
        host.innerHTML = html;
        host.querySelectorAll('[data-chart]').forEach(place);
        for (const [name, plot] of mine) if (!host.contains(plot.node)) { plot.remove(); plots.delete(plot); mine.delete(name); }
      }
      for (const [name, figure] of Object.entries(figures)) mine.get(name)?.show(figure);
    };
    watch('value', show);
    show();
  }
  return { connect };
})();
