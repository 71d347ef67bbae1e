// The chain behind a piece of time: boxes joined by a line, numbered in order of time.

function drawChain(t, c) {
  const one = t.instance, width = t.width, [s0, s1] = one.span.map((ns) => t.x(ns)), last = t.rows.at(-1);
  c.fillStyle = t.css.band;
  c.fillRect(s0, t.top, Math.max(s1 - s0, 1), last[0] + last[1] - t.top);
  c.strokeStyle = c.fillStyle = t.css.mark;
  c.lineWidth = 1.5;
  const spots = one.marks.map(([row, start, end]) => {
    const [y, h] = t.rows[row], x0 = t.x(start), x1 = t.x(end), seen = x1 >= 0 && x0 <= width;
    const a = Math.min(Math.max(x0, 1), width - 3), b = Math.max(Math.min(x1, width - 1), a + 2);
    if (seen) c.strokeRect(a, y + 2.5, b - a, h - 5);
    const badge = a > 20 ? a - 9 : a + 8; // beside the box, so as not to cover its name
    return { x: Math.min(badge, width - 8), y: y + h / 2, end: b, start, over: end, seen };
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
  c.font = "bold 10px " + t.css.sans;
  c.textAlign = "center"; c.textBaseline = "middle";
  spots.forEach(({ x, y, seen }, i) => {
    if (!seen) return; // an arrow stands there
    c.fillStyle = t.css.mark; c.beginPath(); c.arc(x, y, 7, 0, 7); c.fill();
    c.fillStyle = t.css.bg; c.fillText(i + 1, x, y + 0.5);
  });
  c.textAlign = "left"; c.textBaseline = "alphabetic";
}

// Links of the chain that are out of view, as arrows in their rows.
function chainArrows(t) {
  const [from, to] = t.view();
  return t.instance.marks.flatMap(([row, start, end, role, text], i) => {
    const side = end < from ? "left" : start > to ? "right" : "";
    if (!side) return [];
    const [y, h] = t.rows[row], shown = side === "left" ? `\u25c2${i + 1}` : `${i + 1}\u25b8`;
    const show = () => { const half = (to - from) / 2, middle = (start + end) / 2; t.move(middle - half, middle + half, true); };
    return [edgeButton(`flag mark out ${side}`, shown, `${role}: ${text}`, side === "left" ? 14 : t.width - 14, y + h / 2, `mark ${i}`, show)];
  });
}

function tellChain(t) {
  const one = t.instance;
  t.chainBox.hidden = !one;
  if (!one) return;
  const same = t.data.instances.filter((other) => other.cause === one.cause);
  const title = make("p", {}, make("strong", {}, one.said || one.cause));
  if (!one.said) title.append(`, worst ${same.indexOf(one) + 1} of ${same.length}: ${duration(one.span[1] - one.span[0])}`);
  const items = one.marks.map(([, , , role, text], i) => make("li", {}, make("b", {}, String(i + 1)), `${role}: ${text}`));
  t.chainBox.replaceChildren(title, make("ol", {}, ...items));
}
