"use strict";
// One timeline: decoding, drawing, zoom and pan, hover, jump. Plain canvas, see _html_timeline.py.

const FINEST_NS = 100; // the least that a view shows
const LABEL_PX = 44; // events at least this wide carry their name
const SOLID_PX = 2.5; // narrower events are added up per pixel, so that gaps between them stay visible

function unpack(text, type) {
  const raw = atob(text), bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  return new type(bytes.buffer);
}

function duration(ns) {
  for (const [size, unit] of [[1e9, "s"], [1e6, "ms"], [1e3, "us"]])
    if (Math.abs(ns) >= size * 0.99995) return (ns / size).toFixed(1) + " " + unit;
  return Math.round(ns) + " ns";
}

function bytesText(count) {
  for (const [size, unit] of [[2 ** 40, "TiB"], [2 ** 30, "GiB"], [2 ** 20, "MiB"], [1024, "KiB"]])
    if (count >= size) return (count / size).toFixed(1) + " " + unit;
  return count + " B";
}

// First index in [lo, hi) whose value is above x.
function above(values, x, lo, hi) {
  while (lo < hi) {
    const mid = (lo + hi) >> 1;
    if (values[mid] > x) hi = mid; else lo = mid + 1;
  }
  return lo;
}

class Events {
  constructor(data) {
    const start = unpack(data.start, Uint32Array), span = unpack(data.span, Float32Array);
    this.n = start.length;
    this.start = new Float64Array(this.n);
    this.end = new Float64Array(this.n);
    this.reach = new Float64Array(this.n); // latest end so far in the row: where a view begins
    this.kind = unpack(data.kind, Uint8Array);
    this.name = unpack(data.name, Uint16Array);
    this.count = new Uint32Array(this.n).fill(1);
    this.busy = new Float32Array(this.n);
    this.bytes = new Map();
    this.first = data.first;
    for (let i = 0; i < this.n; i++) {
      this.start[i] = start[i] * data.unit;
      this.end[i] = this.start[i] + span[i];
      this.busy[i] = span[i];
    }
    for (let row = 0; row + 1 < data.first.length; row++)
      for (let i = data.first[row], far = 0; i < data.first[row + 1]; i++)
        this.reach[i] = far = Math.max(far, this.end[i]);
    const merged = unpack(data.merged, Uint32Array), moving = unpack(data.moving, Uint32Array);
    const count = unpack(data.count, Uint32Array), busy = unpack(data.busy, Float32Array);
    merged.forEach((at, i) => { this.count[at] = count[i]; this.busy[at] = busy[i]; });
    const bytes = unpack(data.bytes, Float32Array);
    moving.forEach((at, i) => this.bytes.set(at, bytes[i]));
  }

  // Indices of a row's events that touch a time.
  range(row, from, to) {
    const lo = this.first[row], hi = this.first[row + 1];
    return [above(this.reach, from, lo, hi), above(this.start, to, lo, hi)];
  }
}

class Timeline {
  constructor(figure, data) {
    this.figure = figure;
    this.data = data;
    this.events = new Events(data);
    this.plot = figure.querySelector(".plot");
    this.over = figure.querySelector(".overview");
    this.tip = figure.querySelector(".tip");
    this.chainBox = figure.querySelector(".chain");
    this.view = this.home();
    this.hover = this.picked = this.instance = null;
    this.turn = new Map(); // next instance of each cause
    this.filter = null;
    this.drawMs = 0;
    this.listen();
    new ResizeObserver(() => this.draw()).observe(this.plot.parentElement);
  }

  // Steps in the middle where the whole window would be a blur, else all of it.
  home() {
    const [from, to] = this.data.typical, all = this.data.length;
    return all > 8 * (to - from) && to > from ? [from, to] : [0, all];
  }

  set(from, to) {
    const all = this.data.length, span = Math.min(Math.max(to - from, Math.min(FINEST_NS, all)), all);
    const middle = (from + to) / 2;
    const start = Math.min(Math.max(to - from === span ? from : middle - span / 2, 0), all - span);
    this.view = [start, start + span];
    this.schedule();
  }

  // Zoom by a factor about a place in [0, 1] of the view; false at the end of the range.
  zoom(factor, at = 0.5) {
    const [from, to] = this.view, span = to - from;
    const next = Math.min(Math.max(span * factor, Math.min(FINEST_NS, this.data.length)), this.data.length);
    if (next === span) return false;
    const pivot = from + at * span;
    this.set(pivot - at * next, pivot - at * next + next);
    return true;
  }

  pan(share) {
    const step = (this.view[1] - this.view[0]) * share;
    const moved = Math.min(Math.max(step, -this.view[0]), this.data.length - this.view[1]);
    this.set(this.view[0] + moved, this.view[1] + moved);
  }

  schedule() {
    if (!this.waiting) this.waiting = requestAnimationFrame(() => { this.waiting = 0; this.draw(); });
  }

  // Colours and textures, from the style sheet's swatches.
  paint() {
    const css = getComputedStyle(document.documentElement), get = (name) => css.getPropertyValue(name).trim();
    this.css = { text: get("--text"), dim: get("--dim"), line: get("--line"), bg: get("--bg"),
      band: get("--band"), mark: get("--mark"), sans: get("--sans"), faint: get("--faint") };
    this.styles = new Map();
    const probe = document.createElement("span");
    this.figure.append(probe);
    const look = (name) => {
      probe.className = "sw " + name;
      const own = getComputedStyle(probe), color = own.backgroundColor;
      return { color, fill: this.texture(color, Number(own.getPropertyValue("--n")), get("--ink")) };
    };
    for (let kind = 0; kind <= 10; kind++) this.styles.set(kind, look("k" + kind));
    for (const [kind, [, slot]] of Object.entries(this.data.causes)) this.styles.set(Number(kind), look("c" + slot));
    probe.remove();
  }

  texture(color, number, ink) {
    if (!number) return color;
    const size = 6 * this.ratio, tile = document.createElement("canvas"), c = tile.getContext("2d");
    tile.width = tile.height = size;
    c.fillStyle = color;
    c.fillRect(0, 0, size, size);
    c.strokeStyle = c.fillStyle = ink;
    c.lineWidth = 1.1 * this.ratio;
    const line = (...p) => { c.beginPath(); c.moveTo(p[0], p[1]); c.lineTo(p[2], p[3]); c.stroke(); };
    const s = size, h = size / 2;
    if (number === 1 || number === 6) { line(-h, h, h, -h); line(0, s, s, 0); line(h, s + h, s + h, h); }
    if (number === 2 || number === 6) { line(-h, h, h, s + h); line(0, 0, s, s); line(h, -h, s + h, h); }
    if (number === 3) { c.beginPath(); c.arc(h, h, 1.2 * this.ratio, 0, 7); c.fill(); }
    if (number === 4) line(h, 0, h, s);
    if (number === 5) line(0, h, s, h);
    return this.plot.getContext("2d").createPattern(tile, "repeat");
  }

  fit(canvas) {
    const box = canvas.parentElement, ratio = window.devicePixelRatio || 1;
    const width = box.clientWidth, height = box.clientHeight;
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
    }
    const c = canvas.getContext("2d");
    c.setTransform(ratio, 0, 0, ratio, 0, 0);
    c.clearRect(0, 0, width, height);
    return [c, width, height];
  }

  draw() {
    if (!this.plot.parentElement.clientWidth) return; // folded away
    const began = performance.now(), ratio = window.devicePixelRatio || 1;
    if (!this.styles || this.ratio !== ratio) { this.ratio = ratio; this.paint(); }
    const [c, width, height] = this.fit(this.plot);
    const labels = [...this.figure.querySelectorAll(".labels .row")];
    const top = labels[0].offsetTop;
    this.width = width;
    this.top = labels[0].offsetHeight;
    this.rows = labels.slice(1).map((li) => [li.offsetTop - top, li.offsetHeight]);
    labels.slice(1).forEach((li, row) => li.classList.toggle("chosen", this.picked !== null && this.picked[0] === row));
    this.steps(c, width, height);
    this.axis(c, width);
    this.rows.forEach(([y, h], row) => this.row(c, row, y + 3, h - 6, width, this.view, true));
    c.fillStyle = this.css.line;
    for (const [y] of this.rows) c.fillRect(0, y, width, 0.5);
    if (this.instance) this.chain(c, width);
    if (this.picked || this.hover) this.outline(c, this.picked || this.hover);
    this.overview();
    this.readout();
    this.drawMs = performance.now() - began;
  }

  x(ns) { return ((ns - this.view[0]) / (this.view[1] - this.view[0])) * this.width; }

  steps(c, width, height) {
    const [number, start, end] = this.data.steps, [from, to] = this.view;
    const lo = above(end, from, 0, end.length), hi = above(start, to, 0, start.length);
    const step = width / Math.max(hi - lo, 1);
    c.font = "11px " + this.css.sans;
    c.textBaseline = "alphabetic";
    for (let i = lo, free = 0; i < hi; i++) {
      const x0 = Math.max(this.x(start[i]), 0), x1 = Math.min(this.x(end[i]), width);
      if (step > 6 && i % 2) { c.fillStyle = this.css.band; c.fillRect(x0, 0, x1 - x0, height); }
      const text = this.data.step.replace("#", number[i]);
      const wide = c.measureText(text).width + 10;
      if (x0 >= free && Math.min(x0 + wide, width) - x0 >= wide && (step <= 6 || x1 - x0 > wide)) {
        c.fillStyle = this.css.line; c.fillRect(x0, 19, 1, 17);
        c.fillStyle = this.css.text; c.fillText(text, x0 + 4, 31);
        free = x0 + wide;
      }
    }
  }

  axis(c, width) {
    const [from, to] = this.view, rough = (to - from) / Math.max(width / 110, 1);
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = power * [1, 2, 5, 10].find((m) => m * power >= rough);
    const [size, unit] = [[1e9, "s"], [1e6, "ms"], [1e3, "us"], [1, "ns"]].find(([s]) => step >= s * 0.0999) || [1, "ns"];
    const digits = Math.max(0, -Math.floor(Math.log10(step / size) + 1e-9));
    c.font = "11px " + this.css.sans;
    for (let t = Math.ceil(from / step) * step; t <= to; t += step) {
      const x = this.x(t);
      c.fillStyle = this.css.line; c.fillRect(x, 0, 1, 5);
      c.fillStyle = this.css.dim;
      const text = (t / size).toFixed(digits) + " " + unit;
      if (x + c.measureText(text).width + 6 < width) c.fillText(text, x + 4, 12);
    }
  }

  row(c, row, y, h, width, [from, to], names) {
    const e = this.events, k = width / (to - from), sums = new Map(), wide = [];
    const [lo, hi] = e.range(row, from, to);
    for (let i = lo; i < hi; i++) {
      const x0 = (e.start[i] - from) * k, x1 = (e.end[i] - from) * k, w = x1 - x0;
      if (x1 < 0) continue;
      if (w >= SOLID_PX && e.count[i] === 1) { wide.push(i); continue; }
      let sum = sums.get(e.kind[i]);
      if (!sum) sums.set(e.kind[i], (sum = new Float32Array(Math.ceil(width) + 1)));
      const a = Math.max(Math.floor(x0), 0), b = Math.min(Math.floor(x1), sum.length - 1);
      if (a === b) sum[a] += e.busy[i] * k;
      else {
        const density = (e.busy[i] * k) / w;
        for (let p = a; p <= b; p++) sum[p] += density * (Math.min(p + 1, x1) - Math.max(p, x0));
      }
    }
    this.columns(c, sums, y, h);
    for (const i of wide) this.box(c, i, y, h, (e.start[i] - from) * k, (e.end[i] - from) * k, width, names);
  }

  // What is too narrow for a box: per pixel and kind the busy share, stacked from below.
  columns(c, sums, y, h) {
    const kinds = [...sums.keys()].sort((a, b) => a - b);
    if (!kinds.length) return;
    const base = new Float32Array(sums.get(kinds[0]).length);
    for (const kind of kinds) {
      const sum = sums.get(kind);
      c.fillStyle = this.styles.get(kind).color;
      c.globalAlpha = this.faded(kind) ? 0.2 : 1;
      for (let p = 0; p < sum.length;) {
        let q = p + 1;
        while (q < sum.length && sum[q] === sum[p] && base[q] === base[p]) q++;
        const tall = Math.min(sum[p], 1 - base[p]) * h;
        if (sum[p] > 0) c.fillRect(p, y + h - base[p] * h - Math.max(tall, 1), q - p, Math.max(tall, 1));
        for (const share = sum[p]; p < q; p++) base[p] = Math.min(base[p] + share, 1);
      }
    }
    c.globalAlpha = 1;
  }

  faded(kind) { return this.filter && kind >= 32 && this.data.causes[kind][0] !== this.filter; }

  box(c, i, y, h, x0, x1, width, names) {
    const e = this.events, kind = e.kind[i], a = Math.max(x0, -2), b = Math.min(x1, width + 2);
    c.globalAlpha = this.faded(kind) ? 0.2 : 1;
    c.fillStyle = this.styles.get(kind).fill;
    c.fillRect(a, y, Math.max(b - a - (b - a > 4 ? 1 : 0), 1), h);
    if (names && b - a > LABEL_PX && h >= 14) {
      const text = kind >= 32 ? this.data.causes[kind][0] : this.data.names[e.name[i]];
      c.font = "11px " + this.css.sans;
      const room = Math.min(b, width) - Math.max(a, 0) - 8, shown = this.clip(c, text, room);
      if (shown) {
        const x = Math.max(a, 0) + 4, wide = c.measureText(shown).width;
        c.fillStyle = this.styles.get(kind).color; c.fillRect(x - 2, y + 1, wide + 4, h - 2);
        c.fillStyle = this.css.bg;
        c.textBaseline = "middle"; c.fillText(shown, x, y + h / 2 + 0.5); c.textBaseline = "alphabetic";
      }
    }
    c.globalAlpha = 1;
  }

  clip(c, text, room) {
    if (c.measureText(text).width <= room) return text;
    let keep = Math.min(text.length, Math.floor(room / 4));
    while (keep > 2 && c.measureText(text.slice(0, keep) + "\u2026").width > room) keep--;
    return keep > 3 ? text.slice(0, keep) + "\u2026" : "";
  }

  outline(c, [row, i]) {
    const [y, h] = this.rows[row], x0 = this.x(this.events.start[i]), x1 = this.x(this.events.end[i]);
    c.strokeStyle = this.css.mark;
    c.lineWidth = 1.5;
    c.strokeRect(Math.max(x0, -3) - 0.5, y + 2, Math.max(Math.min(x1, this.width + 3) - Math.max(x0, -3), 2), h - 4);
  }

  // The chain behind an instance: boxes joined by a line, numbered in order of time.
  chain(c, width) {
    const one = this.instance, [s0, s1] = one.span.map((t) => this.x(t));
    c.fillStyle = this.css.band;
    c.fillRect(s0, this.top, Math.max(s1 - s0, 1), this.rows.at(-1)[0] + this.rows.at(-1)[1] - this.top);
    c.strokeStyle = c.fillStyle = this.css.mark;
    c.lineWidth = 1.5;
    const spots = one.marks.map(([row, start, end]) => {
      const [y, h] = this.rows[row], x0 = this.x(start), x1 = this.x(end);
      const a = Math.min(Math.max(x0, 1), width - 3), b = Math.max(Math.min(x1, width - 1), a + 2);
      if (x1 >= 0 && x0 <= width) c.strokeRect(a, y + 2.5, b - a, h - 5);
      const badge = a > 20 ? a - 9 : a + 8; // beside the box, so as not to cover its name
      return { x: Math.min(badge, width - 8), y: y + h / 2, end: b, start, over: end };
    });
    c.setLineDash([3, 3]);
    c.beginPath();
    for (let i = 0; i + 1 < spots.length; i++) {
      const one = spots[i], next = spots[i + 1];
      c.moveTo(one.over <= next.start ? one.end : one.x, one.y);
      c.lineTo(next.x, next.y);
    }
    c.stroke();
    c.setLineDash([]);
    c.font = "bold 10px " + this.css.sans;
    c.textAlign = "center"; c.textBaseline = "middle";
    spots.forEach(({ x, y }, i) => {
      c.fillStyle = this.css.mark; c.beginPath(); c.arc(x, y, 7, 0, 7); c.fill();
      c.fillStyle = this.css.bg; c.fillText(i + 1, x, y + 0.5);
    });
    c.textAlign = "left"; c.textBaseline = "alphabetic";
  }

  // The whole window in a strip: all streams' rows halved, and the part in view.
  overview() {
    const [c, width, height] = this.fit(this.over), all = this.data.length;
    const shown = this.data.rows.flatMap((row, i) => (row.role === "causes" || row.role === "stream" ? [i] : [])).slice(0, 4);
    const h = height / Math.max(shown.length, 1);
    shown.forEach((row, i) => this.row(c, row, i * h + 1, h - 2, width, [0, all], false));
    const x0 = (this.view[0] / all) * width, x1 = Math.max((this.view[1] / all) * width, x0 + 2);
    c.fillStyle = this.css.bg;
    c.globalAlpha = 0.5;
    c.fillRect(0, 0, x0, height);
    c.fillRect(x1, 0, width - x1, height);
    c.globalAlpha = 1;
    c.strokeStyle = this.css.mark;
    c.lineWidth = 1;
    c.strokeRect(x0 + 0.5, 0.5, Math.max(x1 - x0 - 1, 1), height - 1);
  }

  readout() {
    const [from, to] = this.view;
    this.figure.querySelector(".range").textContent =
      `${duration(to - from)} shown, from +${duration(from)} (trace time ${((this.data.origin + from) / 1e9).toFixed(6)} s)`;
  }

  // The event under a point, or the longest within two pixels: [row, index].
  hit(px, py) {
    const row = this.rows.findIndex(([y, h]) => py >= y && py < y + h);
    if (row < 0) return null;
    const e = this.events, k = (this.view[1] - this.view[0]) / this.width, t = this.view[0] + px * k;
    const [lo, hi] = e.range(row, t - 2 * k, t + 2 * k);
    let best = null, rank = -1;
    for (let i = lo; i < hi; i++) {
      if (e.end[i] < t - 2 * k) continue;
      const inside = e.start[i] <= t && e.end[i] > t ? 1e15 : 0;
      if (inside + e.busy[i] > rank) { best = [row, i]; rank = inside + e.busy[i]; }
    }
    return best;
  }

  // What an event is, as texts; also what tests read.
  describe([row, i]) {
    const e = this.events, kind = e.kind[i], idle = kind >= 32;
    const name = this.data.names[e.name[i]], count = e.count[i], bytes = e.bytes.get(i);
    const said = { row: this.data.rows[row].label, duration: duration(e.busy[i]), count };
    said.name = idle ? `no compute: ${this.data.causes[kind][0]}` : name || "graph launch";
    if (bytes) { said.bytes = bytesText(bytes); said.speed = (bytes / e.busy[i]).toFixed(1) + " GB/s"; }
    said.cause = idle ? this.data.causes[kind][0] : this.blamed(i, row);
    if (idle && name) said.before = name;
    return said;
  }

  // The cause of the idle time that a kernel ended, or that a copy or call lay in.
  blamed(i, row) {
    const e = this.events, ends = this.data.rows[row].role === "stream" && e.kind[i] === 0;
    const from = ends ? e.start[i] - 2 * this.data.unit : e.start[i], to = ends ? e.start[i] : e.end[i];
    const [lo, hi] = e.range(0, from, to), total = new Map();
    for (let j = lo; j < hi; j++) {
      const shared = Math.min(e.end[j], to) - Math.max(e.start[j], from);
      if (shared > 0 && e.count[j] === 1) total.set(e.kind[j], (total.get(e.kind[j]) || 0) + shared);
    }
    const worst = [...total].sort((a, b) => b[1] - a[1])[0];
    return worst ? this.data.causes[worst[0]][0] : "";
  }

  show(found, px, py) {
    this.hover = found;
    this.tip.hidden = !found;
    if (!found) return;
    const said = this.describe(found), e = this.events, i = found[1];
    const line = [said.duration];
    if (said.count > 1) {
      line[0] = `${said.count} events merged, busy ${said.duration} of ${duration(e.end[i] - e.start[i])}`;
      line.push(`on average ${duration(e.busy[i] / said.count)}`);
    }
    if (said.bytes) line.push(said.bytes, said.speed);
    line.push(`at ${duration(e.start[i])}`);
    const name = document.createElement("b"), facts = document.createElement("span");
    name.textContent = said.count > 1 ? `${said.name} and more` : said.name;
    facts.className = "num";
    facts.textContent = line.join(" \u00b7 ");
    this.tip.replaceChildren(name, facts);
    if (said.before) this.tip.append(document.createElement("br"), `ended by ${said.before}`);
    else if (said.cause) this.tip.append(document.createElement("br"), `cause ${said.cause}`);
    const wide = this.tip.offsetWidth, room = this.width;
    this.tip.style.left = Math.max(Math.min(px + 12, room - wide - 4), 4) + "px";
    this.tip.style.top = py + 16 + "px";
  }

  // The next of a cause's worst instances; null where it has none here.
  jump(cause) {
    const all = this.data.instances.filter((one) => one.cause === cause);
    if (!all.length) return null;
    const turn = this.turn.get(cause) || 0;
    this.turn.set(cause, (turn + 1) % all.length);
    this.instance = all[turn];
    this.picked = null;
    this.show(null);
    this.set(...this.instance.view);
    const list = document.createElement("ol");
    this.instance.marks.forEach(([, , , role, text], i) => {
      const item = document.createElement("li"), number = document.createElement("b");
      number.textContent = i + 1;
      item.append(number, `${role}: ${text}`);
      list.append(item);
    });
    const title = document.createElement("p"), strong = document.createElement("strong");
    strong.textContent = this.instance.said || cause;
    title.append(strong);
    if (!this.instance.said) title.append(`, worst ${turn + 1} of ${all.length}: ${duration(this.instance.span[1] - this.instance.span[0])}`);
    this.chainBox.replaceChildren(title, list);
    this.chainBox.hidden = false;
    return { turn: turn + 1, of: all.length };
  }

  // Choose a row or the next event by key; brings it into view.
  pick(rows, events) {
    const e = this.events, count = this.rows.length;
    let row = this.picked ? this.picked[0] : rows || events ? 0 : null, i;
    if (rows) row = this.picked ? Math.min(Math.max(row + rows, 0), count - 1) : 0;
    if (this.picked && !rows) i = Math.min(Math.max(this.picked[1] + events, e.first[row]), e.first[row + 1] - 1);
    else i = Math.min(e.range(row, this.view[0], this.view[1])[0], e.first[row + 1] - 1);
    if (i < e.first[row]) return;
    this.picked = [row, i];
    const span = this.view[1] - this.view[0];
    if (e.start[i] < this.view[0] || e.start[i] > this.view[1]) this.set(e.start[i] - span / 2, e.start[i] + span / 2);
    this.show(this.picked, Math.max(this.x(e.start[i]), 0), this.rows[row][0] + this.rows[row][1] - 12);
    this.schedule();
  }

  act(what) {
    const acts = { "zoom-in": () => this.zoom(0.5), "zoom-out": () => this.zoom(2), left: () => this.pan(-0.25),
      right: () => this.pan(0.25), all: () => this.set(0, this.data.length), typical: () => this.set(...this.data.typical) };
    acts[what]();
  }

  listen() {
    const plot = this.plot, at = (event) => { const box = plot.getBoundingClientRect(); return [event.clientX - box.left, event.clientY - box.top]; };
    plot.addEventListener("wheel", (event) => {
      const sideways = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
      const delta = (sideways && event.deltaX) || event.deltaY;
      if (sideways) this.pan(delta / 600);
      else if (!this.zoom(Math.exp(Math.max(-200, Math.min(200, delta)) * 0.004), at(event)[0] / this.width)) return;
      event.preventDefault(); // at either end of the zoom the page scrolls on
    }, { passive: false });
    let held = null;
    plot.addEventListener("pointerdown", (event) => {
      held = [event.clientX, this.view];
      plot.setPointerCapture(event.pointerId);
      plot.classList.add("drag");
    });
    plot.addEventListener("pointermove", (event) => {
      if (held) {
        const [from, to] = held[1], all = this.data.length;
        const moved = ((held[0] - event.clientX) / this.width) * (to - from);
        const kept = Math.min(Math.max(moved, -from), all - to);
        this.set(from + kept, to + kept);
      } else {
        this.picked = null;
        const [x, y] = at(event), before = this.hover;
        this.show(this.hit(x, y), x, y);
        if (String(before) !== String(this.hover)) this.schedule();
      }
    });
    const release = () => { held = null; plot.classList.remove("drag"); };
    plot.addEventListener("pointerup", release);
    plot.addEventListener("pointercancel", release);
    plot.addEventListener("pointerleave", () => { if (!held) { this.show(null); this.schedule(); } });
    plot.addEventListener("dblclick", (event) => this.zoom(0.25, at(event)[0] / this.width));
    plot.addEventListener("blur", () => { this.picked = null; this.show(null); this.schedule(); });
    plot.addEventListener("keydown", (event) => {
      const keys = { "+": "zoom-in", "=": "zoom-in", "-": "zoom-out", "_": "zoom-out", ArrowLeft: "left", ArrowRight: "right", Home: "all" };
      const moves = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ",": [0, -1], ".": [0, 1] };
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (keys[event.key]) this.act(keys[event.key]);
      else if (moves[event.key]) this.pick(...moves[event.key]);
      else if (event.key === "Escape") { this.picked = this.instance = null; this.chainBox.hidden = true; this.show(null); this.schedule(); }
      else return;
      event.preventDefault();
    });
    let dragging = false;
    const seek = (event) => {
      const box = this.over.getBoundingClientRect(), half = (this.view[1] - this.view[0]) / 2;
      const t = ((event.clientX - box.left) / box.width) * this.data.length;
      const middle = Math.min(Math.max(t, half), this.data.length - half);
      this.set(middle - half, middle + half);
    };
    this.over.addEventListener("pointerdown", (event) => { dragging = true; this.over.setPointerCapture(event.pointerId); seek(event); });
    this.over.addEventListener("pointermove", (event) => { if (dragging) seek(event); });
    this.over.addEventListener("pointerup", () => { dragging = false; });
    for (const button of this.figure.querySelectorAll("[data-do]"))
      button.addEventListener("click", () => this.act(button.dataset.do));
  }

  restyle() { this.styles = null; this.draw(); }
}
