// The axis: ticks of 1, 2 or 5, in one unit, counted from something that is named; and the steps.

const TICK_PX = 80;

// Ticks of a view: {unit, base, at: [[ns, text]]}; the numbers count from `base` ns.
function ticksOf(from, to, width) {
  const rough = (to - from) / Math.max(width / TICK_PX, 1), power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((times) => times * power >= rough * 0.999);
  const [size, unit] = [[1e9, "s"], [1e6, "ms"]].find(([ns]) => step >= ns / 2) || [1e3, "us"];
  // Long numbers that differ in their last digits are read badly: count from a round time before.
  const base = unit !== "s" && from >= 1e4 * size ? Math.floor(from / (1e3 * size)) * 1e3 * size : 0;
  const digits = Math.max(0, -Math.floor(Math.log10(step / size) + 1e-9));
  const at = [];
  for (let n = Math.ceil((from - base) / step); base + n * step <= to; n++) at.push([base + n * step, ((n * step) / size).toFixed(digits)]);
  return { unit, base, at };
}

// "ms from window start", "us after 1.234 s".
function axisTitle({ unit, base }, origin, short) {
  if (!base) return short ? `${unit} from start` : `${unit} from ${origin}`;
  const seconds = base >= 1e9 ? `${base / 1e9} s` : `${base / 1e6} ms`;
  return short ? `${unit} + ${seconds}` : `${unit} from ${origin} + ${seconds}`;
}

function drawAxis(t, c) {
  const [from, to] = t.view(), ticks = ticksOf(from, to, t.width), title = axisTitle(ticks, t.origin, t.labels.clientWidth < 140);
  if (t.axisTitle.textContent !== title) t.axisTitle.textContent = title;
  c.font = "11px " + t.css.sans;
  for (const [ns, text] of ticks.at) {
    const x = t.x(ns);
    c.fillStyle = t.css.line; c.fillRect(x, 0, 1, 5);
    c.fillStyle = t.css.dim;
    if (x + c.measureText(text).width + 6 < t.width) c.fillText(text, x + 4, 12);
  }
  t.told.ticks = ticks;
}

// Bands of steps, and their names: wherever one looks, some name says where that is.
function drawSteps(t, c, height) {
  const [number, start, end] = t.data.steps, [from, to] = t.view(), width = t.width;
  const lo = above(end, from, 0, end.length), hi = Math.max(above(start, to, 0, start.length), lo);
  const apart = width / Math.max(hi - lo, 1), told = (t.told.steps = []);
  const name = (i) => t.data.step.replace("#", number[i]), bare = (i) => (t.data.step.includes("#") ? String(number[i]) : name(i));
  c.font = "11px " + t.css.sans;
  c.textBaseline = "alphabetic";
  const write = (text, x, tick) => {
    if (tick) { c.fillStyle = t.css.line; c.fillRect(x, 19, 1, 17); }
    c.fillStyle = t.css.text; c.fillText(text, x + 4, 31);
    told.push(text);
    return x + c.measureText(text).width + 12;
  };
  // Of narrow steps every second, fifth, tenth ... is named.
  const some = Math.max(...[lo, hi - 1].filter((i) => i < hi).map((i) => c.measureText(bare(i)).width + 12), 1);
  let every = 1;
  for (const times of [1, 2, 5]) if (every * apart < some) for (every = times; every * apart < some && times === 5;) every *= 2;
  for (let i = lo, free = 0; i < hi; i++) {
    const x0 = Math.max(t.x(start[i]), 0), x1 = Math.min(t.x(end[i]), width);
    if (apart > 6 && i % 2) { c.fillStyle = t.css.band; c.fillRect(x0, 0, x1 - x0, height); }
    if (x0 < free || (every > 1 && number[i] % every)) continue;
    const room = (every > 1 ? width : Math.min(x1, width)) - x0 - 8;
    const text = [name(i), bare(i)].find((one) => c.measureText(one).width <= room);
    if (text) free = write(text, x0, t.x(start[i]) >= 0);
  }
  if (told.length || !number.length) return;
  // None had room: the first step in view, or the one before it, says it at the left edge.
  const where = lo < hi ? name(lo) : lo > 0 ? `after ${name(lo - 1)}` : `before ${name(0)}`;
  write(fitted(c, [where], width - 8) || bare(Math.min(lo, number.length - 1)), 0, false);
}
