// The page around the timelines: theme, filter by cause, jumps, printing.
(() => {
  const root = document.documentElement, dark = matchMedia("(prefers-color-scheme: dark)");
  const timelines = new Map();
  const recall = () => { try { return localStorage.getItem("overlapcheck-theme"); } catch { return null; } };
  const keep = (theme) => { try { localStorage.setItem("overlapcheck-theme", theme); } catch { /* private */ } };

  function theme(name) {
    root.dataset.theme = name;
    const button = document.getElementById("theme");
    button.textContent = name === "dark" ? "light" : "dark";
    for (const one of timelines.values()) one.restyle();
  }

  // Show one cause of a device, or all of them.
  function choose(device, cause) {
    device.classList.toggle("filtered", Boolean(cause));
    for (const part of device.querySelectorAll(".part")) part.classList.toggle("picked", part.dataset.cause === cause);
    for (const chip of device.querySelectorAll(".chip")) chip.setAttribute("aria-pressed", String((chip.dataset.cause || null) === (cause || null)));
    for (const finding of device.querySelectorAll(".finding")) {
      finding.hidden = Boolean(cause) && finding.dataset.cause !== cause;
      if (cause && !finding.hidden) finding.open = true;
    }
    const timeline = timelines.get(device);
    if (timeline) { timeline.filter = cause || null; timeline.schedule(); }
  }

  function jump(device, cause, button) {
    const timeline = timelines.get(device), done = timeline && timeline.jump(cause);
    if (!done) return;
    timeline.figure.scrollIntoView({ block: "nearest" });
    if (button) button.querySelector(".turn").textContent = ` (${done.turn} of ${done.of})`;
  }

  function start() {
    theme(recall() || (dark.matches ? "dark" : "light"));
    dark.addEventListener("change", () => { if (!recall()) theme(dark.matches ? "dark" : "light"); });
    document.getElementById("theme").addEventListener("click", () => {
      theme(root.dataset.theme === "dark" ? "light" : "dark");
      keep(root.dataset.theme);
    });
    const data = JSON.parse(document.getElementById("timelines").textContent);
    for (const device of document.querySelectorAll(".device")) {
      const figure = device.querySelector(".timeline");
      if (figure) timelines.set(device, new Timeline(figure, data[Number(device.dataset.device)]));
      for (const part of device.querySelectorAll(".part, .chip")) part.addEventListener("click", () => {
        const again = part.getAttribute("aria-pressed") === "true" && part.dataset.cause;
        choose(device, again ? null : part.dataset.cause);
        if (part.dataset.cause && !again) jump(device, part.dataset.cause);
      });
      for (const button of device.querySelectorAll(".show")) {
        button.hidden = !(timelines.get(device)?.data.instances.some((one) => one.cause === button.dataset.cause));
        button.addEventListener("click", () => jump(device, button.dataset.cause, button));
      }
    }
    for (const one of timelines.values()) one.draw();
    let before = null, folded = [];
    addEventListener("beforeprint", () => {
      before = root.dataset.theme;
      folded = [...document.querySelectorAll("details:not([open], .quiet)")];
      for (const one of folded) one.open = true;
      theme("light");
    });
    addEventListener("afterprint", () => {
      for (const one of folded) one.open = false;
      if (before) theme(before);
    });
    Object.assign(window.overlapcheck, { timelines: [...timelines.values()], drawMs: performance.now(), ready: true });
  }

  window.overlapcheck = { ready: false, timelines: [], drawMs: 0 };
  start();
})();
