// A page whose timelines share axes.
{
  const data = JSON.parse(document.getElementById("timelines").textContent);
  const axes = [...document.querySelectorAll(".shared")].map((figure) => SharedAxis(figure, data[Number(figure.dataset.axis)]));
  const timelines = axes.flat();
  Theme(() => { for (const t of timelines) t.restyle(); });
  for (const t of timelines) t.draw();
  window.overlapcheck = { ready: true, timelines, axes };
}
