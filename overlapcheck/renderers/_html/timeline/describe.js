// What is under the pointer, in words.

// An event as texts; also what tests read.
function describe(t, [row, i]) {
  const e = t.events, kind = e.kind[i], idle = kind >= IDLE;
  const name = t.data.names[e.name[i]], count = e.count[i], bytes = e.bytes.get(i);
  const said = { row: t.data.rows[row].label, duration: duration(e.busy[i]), count };
  said.name = idle ? `no compute: ${t.data.causes[kind][0]}` : name || "graph launch";
  if (bytes) { said.bytes = bytesText(bytes); said.speed = (bytes / e.busy[i]).toFixed(1) + " GB/s"; }
  said.cause = idle ? t.data.causes[kind][0] : kind === RANGE ? "" : blamed(t, row, i);
  if (MOVING.has(kind)) said.exposed = exposedOf(e, i, e.start[i], e.end[i]);
  if (idle && name) said.before = name;
  return said;
}

// The cause of the idle time that a kernel ended, or that a copy or call lay in.
function blamed(t, row, i) {
  const e = t.events, ends = t.data.rows[row].role === "stream" && e.kind[i] === 0;
  const from = ends ? e.start[i] - 2 * t.data.unit : e.start[i], to = ends ? e.start[i] : e.end[i];
  const [lo, hi] = e.range(0, from, to), total = new Map();
  for (let j = lo; j < hi; j++) {
    const shared = Math.min(e.end[j], to) - Math.max(e.start[j], from);
    if (shared > 0 && e.count[j] === 1) total.set(e.kind[j], (total.get(e.kind[j]) || 0) + shared);
  }
  const worst = [...total].sort((a, b) => b[1] - a[1])[0];
  return worst ? t.data.causes[worst[0]][0] : "";
}

// Shows an event beside a point, or nothing.
function tell(t, found, px, py) {
  t.hover = found;
  t.tip.hidden = !found;
  if (!found) return;
  const said = describe(t, found), e = t.events, i = found[1], line = [said.duration];
  if (said.count > 1) {
    line[0] = `${said.count} events merged, busy ${said.duration} of ${duration(e.end[i] - e.start[i])}`;
    line.push(`on average ${duration(e.busy[i] / said.count)}`);
  }
  if (said.bytes) line.push(said.bytes, said.speed);
  if (said.exposed !== undefined) line.push(said.exposed < 1 ? "hidden" : `${said.count > 1 ? "about " : ""}${duration(said.exposed)} exposed`);
  line.push(`at ${duration(e.start[i])}`);
  const more = said.before ? `ended by ${said.before}` : said.cause ? `cause ${said.cause}` : "";
  t.tip.replaceChildren(
    make("b", {}, said.count > 1 ? `${said.name} and more` : said.name),
    make("span", { class: "num" }, line.join(" \u00b7 ")),
    ...(more ? [make("br"), more] : []),
  );
  t.tip.style.left = Math.max(Math.min(px + 12, t.width - t.tip.offsetWidth - 4), 4) + "px";
  t.tip.style.top = py + 16 + "px";
}
