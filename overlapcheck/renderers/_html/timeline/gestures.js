// Pointer, wheel and keys. The wheel scrolls the page; with ctrl, as a pinch comes too, it zooms.

function listen(t) {
  const plot = t.plot, held = new Map(); // pointers that are down
  let drag = null; // what the pointer began with: a pan, a selection, or a pinch of two fingers
  const at = (event) => { const box = plot.getBoundingClientRect(); return [event.clientX - box.left, event.clientY - box.top]; };
  const time = (x) => t.view()[0] + (Math.min(Math.max(x, 0), t.width) / t.width) * (t.view()[1] - t.view()[0]);

  plot.addEventListener("wheel", (event) => {
    const sideways = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
    const delta = Math.max(-200, Math.min(200, event.deltaY));
    if (event.ctrlKey || event.metaKey) t.zoom(Math.exp(delta * 0.004), at(event)[0] / t.width);
    else if (sideways) t.pan((event.deltaX || event.deltaY) / 600);
    else return;
    event.preventDefault();
  }, { passive: false });

  const pinched = () => {
    const [a, b] = [...held.values()].map(([x]) => x);
    return [Math.max(Math.abs(a - b), 10), (a + b) / 2];
  };
  plot.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    const [x, y] = at(event);
    held.set(event.pointerId, [x, y]);
    plot.setPointerCapture(event.pointerId);
    drag = held.size === 2 ? { pinch: pinched(), view: t.view() } : { x, view: t.view(), from: event.shiftKey ? time(x) : null };
    plot.classList.toggle("drag", held.size === 1 && !event.shiftKey);
  });
  plot.addEventListener("pointermove", (event) => {
    const [x, y] = at(event);
    if (held.has(event.pointerId)) held.set(event.pointerId, [x, y]);
    if (!drag) {
      const before = t.hover;
      t.picked = null;
      tell(t, t.hit(x, y), x, y);
      if (String(before) !== String(t.hover)) t.schedule();
    } else if (drag.pinch) {
      const [from, to] = drag.view, [wide, middle] = pinched(), span = ((to - from) * drag.pinch[0]) / wide;
      const pivot = from + (drag.pinch[1] / t.width) * (to - from), start = pivot - (middle / t.width) * span;
      t.move(start, start + span);
    } else if (drag.from !== null) t.select(Math.min(drag.from, time(x)), Math.max(drag.from, time(x)));
    else {
      const [from, to] = drag.view, moved = ((drag.x - x) / t.width) * (to - from);
      const kept = Math.min(Math.max(moved, -from), t.length - to);
      t.move(from + kept, to + kept);
    }
  });
  const release = (event) => {
    held.delete(event.pointerId);
    if (drag && drag.from !== null && drag.from !== undefined) t.tellView(true);
    drag = null;
    plot.classList.remove("drag");
  };
  plot.addEventListener("pointerup", release);
  plot.addEventListener("pointercancel", release);
  plot.addEventListener("pointerleave", () => { if (!drag) { tell(t, null); t.schedule(); } });
  plot.addEventListener("dblclick", (event) => t.zoom(0.25, at(event)[0] / t.width));
  plot.addEventListener("blur", () => { t.picked = null; tell(t, null); t.schedule(); });

  plot.addEventListener("keydown", (event) => {
    const acts = { "+": "zoom-in", "=": "zoom-in", "-": "zoom-out", "_": "zoom-out", ArrowLeft: "left", ArrowRight: "right",
      Home: "all", s: "select", Escape: "clear" };
    const moves = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ",": [0, -1], ".": [0, 1] };
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (acts[event.key]) t.act(acts[event.key]);
    else if (moves[event.key]) t.pick(...moves[event.key]);
    else return;
    event.preventDefault();
  });

  let seeking = false;
  const seek = (event) => {
    const box = t.over.getBoundingClientRect(), [from, to] = t.view(), half = (to - from) / 2;
    const middle = Math.min(Math.max(((event.clientX - box.left) / box.width) * t.length, half), t.length - half);
    t.move(middle - half, middle + half);
  };
  t.over.addEventListener("pointerdown", (event) => { seeking = true; t.over.setPointerCapture(event.pointerId); seek(event); });
  t.over.addEventListener("pointermove", (event) => { if (seeking) seek(event); });
  for (const end of ["pointerup", "pointercancel"]) t.over.addEventListener(end, () => { seeking = false; });
  for (const button of t.toolbar.querySelectorAll("[data-do]")) button.addEventListener("click", () => t.act(button.dataset.do));
}
