// Rows of events: boxes with what fits on them, and where they are narrow the busy share per pixel.
// A scene is what is drawn where: {from, to, width, labels, idle}, `idle` being shares per pixel.

const SOLID_PX = 2.5; // narrower events are added up per pixel, so that gaps between them stay visible
const LABEL_PX = 26; // boxes at least this wide carry a label
const HIDDEN_HIGH = 0.5; // height of what runs under compute
const PALE = 0.22;

// Per pixel the share of time without compute.
function idleShares(events, from, to, width) {
  const sum = new Float32Array(Math.ceil(width) + 1), k = width / (to - from), [lo, hi] = events.range(0, from, to);
  for (let i = lo; i < hi; i++) if (events.end[i] > from) events.spread(i, sum, from, k);
  return sum;
}

function drawRow(t, c, row, y, h, scene) {
  const e = t.events, { from, to, width } = scene, k = width / (to - from), sums = new Map(), wide = [];
  const [lo, hi] = e.range(row, from, to);
  for (let i = lo; i < hi; i++) {
    if (e.end[i] < from) continue;
    if ((e.end[i] - e.start[i]) * k >= SOLID_PX && e.count[i] === 1) { wide.push(i); continue; }
    const key = e.kind[i] + (t.isFound(row, i) ? 256 : 0);
    if (!sums.has(key)) sums.set(key, new Float32Array(Math.ceil(width) + 1));
    e.spread(i, sums.get(key), from, k);
  }
  drawColumns(t, c, row, sums, y, h);
  for (const i of wide) drawBox(t, c, row, i, y, h, scene);
  c.globalAlpha = 1;
}

// What is too narrow for a box: per pixel and kind the busy share, stacked from below.
function drawColumns(t, c, row, sums, y, h) {
  const keys = [...sums.keys()].sort((a, b) => b - a); // what is searched for at the bottom, seen best
  if (!keys.length) return;
  const base = new Float32Array(sums.get(keys[0]).length);
  for (const key of keys) {
    const sum = sums.get(key), kind = key & 255, found = key > 255, least = found ? h * 0.6 : 1;
    c.fillStyle = t.css.of(kind).color;
    c.globalAlpha = t.alpha(row, kind, found);
    for (let p = 0; p < sum.length;) {
      let q = p + 1;
      while (q < sum.length && sum[q] === sum[p] && base[q] === base[p]) q++;
      const tall = Math.max(Math.min(sum[p], 1 - base[p]) * h, least);
      if (sum[p] > 0) c.fillRect(p, y + h - base[p] * h - tall, q - p, tall);
      for (const share = sum[p]; p < q; p++) base[p] = Math.min(base[p] + share, 1);
    }
  }
}

function drawBox(t, c, row, i, y, h, scene) {
  const e = t.events, kind = e.kind[i], k = scene.width / (scene.to - scene.from), found = t.isFound(row, i);
  const x0 = (e.start[i] - scene.from) * k, x1 = (e.end[i] - scene.from) * k;
  const a = Math.max(x0, -2), b = Math.min(x1, scene.width + 2), wide = Math.max(b - a - (b - a > 4 ? 1 : 0), 1);
  const alpha = t.alpha(row, kind, found);
  c.globalAlpha = alpha;
  c.fillStyle = t.css.of(kind).fill;
  const low = scene.idle && MOVING.has(kind) ? drawMoving(t, c, a, a + wide, y, h, scene.idle, alpha) : false;
  if (!low && !(scene.idle && MOVING.has(kind))) c.fillRect(a, y, wide, h);
  if (found && wide > 3) { c.strokeStyle = t.css.mark; c.lineWidth = 1; c.strokeRect(a + 0.5, y + 0.5, wide - 1, h - 1); }
  if (scene.labels && b - a > LABEL_PX && h >= 12) drawLabel(t, c, i, Math.max(a, 0), Math.min(b, scene.width), low ? [y + h * HIDDEN_HIGH, h * HIDDEN_HIGH] : [y, h]);
}

// A copy or collective: exposed parts are whole with a line on top, parts under compute lie low.
// Returns whether its first part in view is hidden.
function drawMoving(t, c, a, b, y, h, idle, alpha) {
  const fill = c.fillStyle, last = Math.min(b, idle.length);
  let first = null;
  for (let p = Math.max(Math.floor(a), 0); p < last;) {
    const hidden = idle[p] < 0.5;
    let q = p + 1;
    while (q < last && idle[q] < 0.5 === hidden) q++;
    const from = Math.max(p, a), wide = Math.max(Math.min(q, b) - from, 1);
    c.fillStyle = fill;
    c.globalAlpha = alpha * (hidden ? 0.75 : 1);
    if (hidden) c.fillRect(from, y + h * (1 - HIDDEN_HIGH), wide, h * HIDDEN_HIGH);
    else { c.fillRect(from, y, wide, h); c.fillStyle = t.css.mark; c.fillRect(from, y, wide, 2); }
    if (first === null) first = hidden;
    p = q;
  }
  c.globalAlpha = alpha;
  return Boolean(first);
}

// The text that fits best between two pixels.
function drawLabel(t, c, i, from, to, [y, h]) {
  c.font = "11px " + t.css.sans;
  const style = t.css.of(t.events.kind[i]), kind = t.events.kind[i];
  // Names of kernels differ at both ends, calls and causes at the first.
  const shown = fitted(c, labelsOf(t, i), to - from - 8, kind >= IDLE || kind === 9 || kind === 10);
  if (!shown) return;
  const x = from + 4, middle = y + h / 2;
  c.fillStyle = style.color; c.fillRect(x - 2, middle - 7, widthOf(c, shown) + 4, 14);
  c.fillStyle = style.text;
  c.textBaseline = "middle"; c.fillText(shown, x, middle + 0.5); c.textBaseline = "alphabetic";
  t.told.labels.push(shown);
}

// What may stand on an event, the fullest first.
function labelsOf(t, i) {
  const e = t.events, kind = e.kind[i], bytes = e.bytes.get(i), took = brief(duration(e.busy[i]));
  if (kind >= IDLE) return [`${t.data.causes[kind][0]} ${took}`, t.data.causes[kind][0]];
  const name = t.data.names[e.name[i]] || "graph launch";
  if (bytes && kind !== 1) {
    const size = brief(bytesText(bytes)), speed = (bytes / e.busy[i]).toFixed(bytes / e.busy[i] < 10 ? 1 : 0);
    return [`${name} ${size} ${speed} GB/s`, `${size} ${brief(speed + " GB/s")}`, size];
  }
  if (kind >= 9) return [`${name} ${took}`, name, name.replace(/^cuda(?=[A-Z])/, "")];
  return [name, shortName(name)];
}
