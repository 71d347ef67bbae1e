// A report's page around its timelines: theme, search, filter by cause, jumps, the address.
(() => {
  const parts = new Map(); // by number of the device: {t, search}
  let address = null;

  // Show one cause of a device, or all of them.
  function choose(device, t, cause) {
    device.classList.toggle("filtered", Boolean(cause));
    for (const part of device.querySelectorAll(".part")) part.classList.toggle("picked", part.dataset.cause === cause);
    for (const chip of device.querySelectorAll(".chip")) chip.setAttribute("aria-pressed", String((chip.dataset.cause || null) === (cause || null)));
    for (const finding of device.querySelectorAll(".finding")) {
      finding.hidden = Boolean(cause) && finding.dataset.cause !== cause;
      if (cause && !finding.hidden) finding.open = true;
    }
    if (t) { t.filter = cause || null; t.schedule(); }
  }

  function jump(t, cause, button) {
    const done = t && t.jump(cause);
    if (!done) return;
    t.element.scrollIntoView({ block: "nearest" });
    if (button && done.of > 1) button.querySelector(".turn").textContent = ` (${done.turn} of ${done.of})`;
  }

  function listenTo(device, t) {
    for (const part of device.querySelectorAll(".part, .chip")) part.addEventListener("click", () => {
      const again = part.getAttribute("aria-pressed") === "true" && part.dataset.cause;
      choose(device, t, again ? null : part.dataset.cause);
      if (part.dataset.cause && !again) jump(t, part.dataset.cause);
    });
    for (const button of device.querySelectorAll(".show")) {
      button.hidden = !t || !t.data.instances.some((one) => one.cause === button.dataset.cause);
      button.addEventListener("click", () => jump(t, button.dataset.cause, button));
    }
  }

  window.overlapcheck = { ready: false, timelines: [], drawMs: 0 };
  const data = JSON.parse(document.getElementById("timelines").textContent);
  for (const device of document.querySelectorAll(".device")) {
    const figure = device.querySelector(".timeline"), n = Number(device.dataset.device);
    let t = null;
    if (figure) {
      t = Timeline(figure.querySelector(".stage"), data[n], { label: figure.dataset.label, hint: figure.dataset.hint });
      const search = Search(figure.querySelector(".search"), t, (leapt) => address.changed(leapt));
      parts.set(n, { t, search });
      t.onview((from, to, leapt) => address && address.changed(leapt));
    }
    listenTo(device, t);
  }
  const timelines = [...parts.values()].map(({ t }) => t);
  Theme(() => { for (const t of timelines) t.restyle(); });
  if (parts.size) address = Address(parts);
  addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea") || !parts.size) return;
    const near = event.target.closest(".device"), own = near && parts.get(Number(near.dataset.device));
    (own || [...parts.values()][0]).search.focus();
    event.preventDefault();
  });
  for (const t of timelines) t.draw();
  Object.assign(window.overlapcheck, { timelines, drawMs: performance.now(), ready: true });
})();
