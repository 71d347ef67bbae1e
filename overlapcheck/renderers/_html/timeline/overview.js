// The whole window in a strip: its first rows, the part in view, what is selected and what was found.

function fit(canvas) {
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

function drawOverview(t) {
  const [c, width, height] = fit(t.over), all = t.length, [from, to] = t.view(), e = t.events;
  const shown = t.data.rows.flatMap((row, i) => (row.role === "causes" || row.role === "stream" ? [i] : [])).slice(0, 4);
  const h = height / Math.max(shown.length, 1), scene = { from: 0, to: all, width, labels: false, idle: null };
  shown.forEach((row, i) => drawRow(t, c, row, i * h + 1, h - 2, scene));
  const x0 = (from / all) * width, x1 = Math.max((to / all) * width, x0 + 2);
  c.fillStyle = t.css.bg;
  c.globalAlpha = 0.5;
  c.fillRect(0, 0, x0, height);
  c.fillRect(x1, 0, width - x1, height);
  c.globalAlpha = 1;
  c.strokeStyle = c.fillStyle = t.css.mark;
  if (t.matches) {
    const pixels = new Set(t.matches.at.map((i) => Math.floor((e.start[i] / all) * width)));
    for (const x of pixels) c.fillRect(x, 0, 1, 5);
  }
  if (t.selection) {
    const [a, b] = t.selection.map((ns) => (ns / all) * width);
    c.fillStyle = t.css.chosen;
    c.fillRect(a, 0, Math.max(b - a, 1), height);
  }
  c.lineWidth = 1;
  c.strokeRect(x0 + 0.5, 0.5, Math.max(x1 - x0 - 1, 1), height - 1);
}
