// What a span of time holds, from the events that the page has.

// Time of an event, within a span, in which nothing computed: about so where blocks are merged.
function exposedOf(e, i, from, to) {
  const start = Math.max(e.start[i], from), end = Math.min(e.end[i], to), [lo, hi] = e.range(0, start, end);
  let idle = 0;
  for (let j = lo; j < hi; j++) idle += e.within(j, start, end);
  const share = end > start ? e.within(i, start, end) / (end - start) : 0;
  return idle * share;
}

// Lengths in ns: {length, idle, compute, causes, copy, copyExposed, comm, commExposed, blocks}.
// Operations that ran at once count once, but for those merged in blocks: `blocks` says how many
// of these there are, and whether the numbers are therefore approximate.
function measure(t, from, to) {
  const e = t.events, causes = new Map(), sums = { copy: [0, 0], comm: [0, 0] };
  let idle = 0, blocks = 0;
  const [lo, hi] = e.range(0, from, to);
  for (let i = lo; i < hi; i++) {
    const part = e.within(i, from, to);
    if (part <= 0) continue;
    idle += part;
    causes.set(e.kind[i], (causes.get(e.kind[i]) || 0) + part);
    if (e.count[i] > 1 && (e.start[i] < from || e.end[i] > to)) blocks++;
  }
  for (const [what, wanted] of [["copy", (kind) => MOVING.has(kind) && kind !== 1], ["comm", (kind) => kind === 1]]) {
    const single = [];
    for (let row = 1; row < e.rows; row++) {
      const [first, stop] = e.range(row, from, to);
      for (let i = first; i < stop; i++) {
        if (!wanted(e.kind[i]) || e.end[i] <= from) continue;
        if (e.count[i] === 1) { single.push(i); continue; }
        blocks++;
        sums[what][0] += e.within(i, from, to);
        sums[what][1] += exposedOf(e, i, from, to);
      }
    }
    single.sort((a, b) => e.start[a] - e.start[b]);
    for (let n = 0, reach = from; n < single.length; n++) {
      const i = single[n], start = Math.max(e.start[i], reach), end = Math.min(e.end[i], to);
      if (end <= start) continue;
      sums[what][0] += end - start;
      sums[what][1] += exposedOf(e, i, start, end);
      reach = end;
    }
  }
  return {
    length: to - from, idle, compute: to - from - idle, blocks,
    copy: sums.copy[0], copyExposed: sums.copy[1], comm: sums.comm[0], commExposed: sums.comm[1],
    causes: [...causes].sort((a, b) => b[1] - a[1]).map(([kind, ns]) => [t.data.causes[kind][0], ns]),
  };
}

// A line for each number that a selection has.
function measuredWords(found) {
  const share = (ns) => `${duration(ns)} (${percentText(ns, found.length)})`;
  const moved = (ns, exposed) => (ns > 0 ? `${duration(ns)}, ${duration(exposed)} of it exposed` : "none");
  const words = [
    ["selected", duration(found.length)],
    ["compute busy", share(found.compute)],
    ["no compute", share(found.idle) + (found.causes.length ? `: ${found.causes.slice(0, 3).map(([cause, ns]) => `${cause} ${duration(ns)}`).join(", ")}` : "")],
    ["copies", moved(found.copy, found.copyExposed)],
  ];
  if (found.comm > 0) words.push(["collectives", moved(found.comm, found.commExposed)]);
  if (found.blocks) words.push(["approximate", `${found.blocks} merged block${found.blocks > 1 ? "s" : ""} in it: these keep how long they were busy, not when`]);
  return words;
}

function tellSelection(t) {
  const box = t.measuredBox;
  box.hidden = !t.selection;
  if (!t.selection) { t.measured = null; return; }
  t.measured = measure(t, ...t.selection);
  box.replaceChildren(...measuredWords(t.measured).map(([what, text]) => make("div", {}, make("dt", {}, what), make("dd", {}, text))));
}

function shadeSelection(t, c, height) {
  const [x0, x1] = t.selection.map((ns) => t.x(ns)), a = Math.max(x0, -2), b = Math.min(x1, t.width + 2);
  if (b < 0 || a > t.width) return;
  c.fillStyle = t.css.chosen;
  c.fillRect(a, 0, Math.max(b - a, 1), height);
  c.fillStyle = t.css.mark;
  c.fillRect(a, 0, 1, height);
  c.fillRect(b - 1, 0, 1, height);
}
