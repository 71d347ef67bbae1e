// One timeline of a device's window. A page may have several:
//
//   const t = Timeline(element, data, options);
//   t.view()                       [start_ns, end_ns] in view, from the window's start
//   t.show(start_ns, end_ns)       shows another part, as much of it as there is
//   t.onview((start_ns, end_ns, jumped) => ...)   after each change; `jumped` where it was a leap
//   t.select(start_ns, end_ns), t.selection       a measured span; null for none
//   t.find(text), t.step(+1 or -1)                marks events by name, and goes to the next
//   t.restyle()                    after a change of theme
//
// data: see _html_timeline.py. options, all of them optional: `length` of the axis in ns, for several
// timelines on one axis; `bare` for one without toolbar and overview; `origin`, what the axis counts
// from; `label` for those who cannot see; `hint`, the id of its explanation; `drawOver(t, context)`
// to draw over the events.

function Timeline(element, data, options = {}) { return new OneTimeline(element, data, options); }

const FINEST_NS = 100; // the least that a view shows

class OneTimeline {
  constructor(element, data, options) {
    this.element = element;
    this.data = data;
    this.events = new Events(data);
    this.length = Math.max(options.length || 0, data.length);
    this.origin = options.origin || "window start";
    this.drawOver = options.drawOver;
    this.listeners = [];
    this.told = { steps: [], labels: [], ticks: null }; // texts that are drawn
    this.hover = this.picked = this.instance = this.filter = this.matches = this.selection = null;
    this.turn = new Map(); // next instance of each cause
    this.drawMs = 0;
    build(this, element, options);
    this.span = this.home();
    listen(this);
    new ResizeObserver(() => this.draw()).observe(this.plotbox);
  }

  view() { return this.span; }

  show(from, to) { this.move(from, to); }

  onview(callback) { this.listeners.push(callback); }

  tellView(jumped) { for (const one of this.listeners) one(...this.span, Boolean(jumped)); }

  // Steps in the middle where the whole window would be a blur, else all of it.
  home() {
    const [from, to] = this.data.typical;
    return this.length === this.data.length && this.length > 8 * (to - from) && to > from ? [from, to] : [0, this.length];
  }

  move(from, to, jumped = false) {
    const all = this.length, span = Math.min(Math.max(to - from, Math.min(FINEST_NS, all)), all), middle = (from + to) / 2;
    const start = Math.min(Math.max(to - from === span ? from : middle - span / 2, 0), all - span);
    if (start === this.span[0] && start + span === this.span[1]) return;
    this.span = [start, start + span];
    this.schedule();
    this.tellView(jumped);
  }

  // Zoom by a factor about a place in [0, 1] of the view.
  zoom(factor, at = 0.5) {
    const [from, to] = this.span, span = to - from;
    const next = Math.min(Math.max(span * factor, Math.min(FINEST_NS, this.length)), this.length), start = from + at * (span - next);
    this.move(start, start + next);
  }

  pan(share) {
    const [from, to] = this.span, moved = Math.min(Math.max((to - from) * share, -from), this.length - to);
    this.move(from + moved, to + moved);
  }

  x(ns) { return ((ns - this.span[0]) / (this.span[1] - this.span[0])) * this.width; }

  schedule() {
    if (!this.waiting) this.waiting = requestAnimationFrame(() => { this.waiting = 0; this.draw(); });
  }

  restyle() { this.css = null; this.draw(); }

  draw() {
    if (!this.plotbox.clientWidth) return; // folded away
    const began = performance.now(), ratio = window.devicePixelRatio || 1;
    if (!this.css || this.css.ratio !== ratio) this.css = new Palette(this.element, this.data, ratio);
    const [c, width, height] = fit(this.plot), [from, to] = this.span;
    this.width = width;
    this.layout();
    this.told.labels = [];
    drawSteps(this, c, height);
    drawAxis(this, c);
    const scene = { from, to, width, labels: true, idle: idleShares(this.events, from, to, width) };
    this.rows.forEach(([y, h], row) => drawRow(this, c, row, y + 3, h - 6, scene));
    c.fillStyle = this.css.line;
    for (const [y] of this.rows) c.fillRect(0, y, width, 0.5);
    if (this.data.length < to) { c.fillStyle = this.css.faint; c.fillRect(this.x(this.data.length), this.top, width, height); }
    if (this.selection) shadeSelection(this, c, height);
    if (this.instance) drawChain(this, c);
    if (this.drawOver) this.drawOver(this, c);
    if (this.picked || this.hover) this.outline(c, this.picked || this.hover);
    placeFlags(this);
    if (this.over.isConnected) drawOverview(this);
    this.range.textContent = `${duration(to - from)} shown, from +${duration(from)} (trace time ${((this.data.origin + from) / 1e9).toFixed(6)} s)`;
    this.drawMs = performance.now() - began;
  }

  // Places of the rows, which are those of their labels.
  layout() {
    const labels = [...this.labels.children], top = labels[0].offsetTop, rows = labels.slice(-this.data.rows.length);
    const flags = labels.find((one) => one.classList.contains("worst"));
    this.flagsTop = flags ? flags.offsetTop - top + flags.offsetHeight / 2 : 0;
    this.rows = rows.map((li) => [li.offsetTop - top, li.offsetHeight]);
    this.top = this.rows.length ? this.rows[0][0] : 0;
    rows.forEach((li, row) => li.classList.toggle("chosen", this.picked !== null && this.picked[0] === row));
  }

  // Whether a search found an event, and how strongly a kind is drawn beside what was asked for.
  isFound(row, i) { return Boolean(this.matches) && row > 0 && this.matches.names[this.events.name[i]]; }

  alpha(row, kind, found) {
    if (this.matches && row > 0) return found ? 1 : PALE;
    return this.filter && kind >= IDLE && this.data.causes[kind][0] !== this.filter ? PALE : 1;
  }

  outline(c, [row, i]) {
    const [y, h] = this.rows[row], x0 = Math.max(this.x(this.events.start[i]), -3), x1 = Math.min(this.x(this.events.end[i]), this.width + 3);
    c.strokeStyle = this.css.mark;
    c.lineWidth = 1.5;
    c.strokeRect(x0 - 0.5, y + 2, Math.max(x1 - x0, 2), h - 4);
  }

  // The event under a point, or the longest within two pixels: [row, index].
  hit(px, py) {
    const row = this.rows.findIndex(([y, h]) => py >= y && py < y + h);
    if (row < 0) return null;
    const e = this.events, k = (this.span[1] - this.span[0]) / this.width, t = this.span[0] + px * k;
    const [lo, hi] = e.range(row, t - 2 * k, t + 2 * k);
    let best = null, rank = -1;
    for (let i = lo; i < hi; i++) {
      if (e.end[i] < t - 2 * k) continue;
      const inside = e.start[i] <= t && e.end[i] > t ? 1e15 : 0;
      if (inside + e.busy[i] > rank) { best = [row, i]; rank = inside + e.busy[i]; }
    }
    return best;
  }

  // The next of a cause's worst instances; null where it has none here.
  jump(cause) {
    const all = this.data.instances.filter((one) => one.cause === cause);
    if (!all.length) return null;
    const turn = this.turn.get(cause) || 0;
    this.turn.set(cause, (turn + 1) % all.length);
    this.go(all[turn]);
    return { turn: turn + 1, of: all.length };
  }

  go(instance) {
    this.instance = instance;
    this.picked = null;
    tell(this, null);
    tellChain(this);
    this.move(...instance.view, true);
    this.schedule();
  }

  // Choose a row or the next event by key; brings it into view.
  pick(rows, events) {
    const e = this.events, count = this.rows.length;
    let row = this.picked ? this.picked[0] : 0, i;
    if (rows && this.picked) row = Math.min(Math.max(row + rows, 0), count - 1);
    if (this.picked && !rows) i = Math.min(Math.max(this.picked[1] + events, e.first[row]), e.first[row + 1] - 1);
    else i = Math.min(e.range(row, ...this.span)[0], e.first[row + 1] - 1);
    if (i < e.first[row]) return;
    this.bring(i);
  }

  // Chooses an event and brings it into view, as wide as it is, unless it would not be seen.
  bring(i, jumped = false) {
    const e = this.events, row = e.rowOf(i), [from, to] = this.span, long = e.end[i] - e.start[i];
    const wide = (long / (to - from)) * this.width, middle = e.start[i] + Math.min(long, to - from) / 2;
    const span = jumped && wide < SOLID_PX ? Math.max(long * 40, FINEST_NS) : to - from;
    if (span !== to - from || e.start[i] < from || e.start[i] > to) this.move(middle - span / 2, middle + span / 2, jumped);
    this.picked = [row, i];
    tell(this, this.picked, Math.max(this.x(e.start[i]), 0), this.rows[row][0] + this.rows[row][1] - 12);
    this.schedule();
  }

  // Marks events whose names hold a text; how many.
  find(text) {
    this.matches = text ? new Matches(this.events, this.data.names, text) : null;
    this.picked = null;
    tell(this, null);
    this.schedule();
    return this.matches ? this.matches.at.length : 0;
  }

  // Goes to the next match, or the one before: its number from 1, 0 without any.
  step(way) {
    const next = this.matches && this.matches.next(this.events, way, this.span[0]);
    if (next === null) return 0;
    this.bring(next, true);
    return this.matches.current + 1;
  }

  select(from, to) {
    const chosen = from === null || to - from < 1 ? null : [Math.max(from, 0), Math.min(to, this.length)];
    this.selection = chosen;
    tellSelection(this);
    this.schedule();
  }

  act(what) {
    const acts = {
      "zoom-in": () => this.zoom(0.5), "zoom-out": () => this.zoom(2), left: () => this.pan(-0.25), right: () => this.pan(0.25),
      all: () => this.move(0, this.length, true), typical: () => this.move(...this.data.typical, true),
      select: () => {
        const i = this.picked ? this.picked[1] : -1;
        this.select(...(i < 0 ? this.span : [this.events.start[i], this.events.end[i]]));
        this.tellView(true);
      },
      clear: () => {
        this.picked = this.instance = null;
        tell(this, null);
        tellChain(this);
        if (this.selection) { this.select(null); this.tellView(true); }
        this.schedule();
      },
    };
    acts[what]();
  }
}
