// Light or dark: as the system has it until the reader chooses.

function Theme(onchange) {
  const root = document.documentElement, dark = matchMedia("(prefers-color-scheme: dark)"), button = document.getElementById("theme");
  const recall = () => { try { return localStorage.getItem("overlapcheck-theme"); } catch { return null; } };
  const keep = (theme) => { try { localStorage.setItem("overlapcheck-theme", theme); } catch { /* private */ } };
  const set = (name) => {
    root.dataset.theme = name;
    button.textContent = name === "dark" ? "light" : "dark";
    onchange();
  };
  set(recall() || (dark.matches ? "dark" : "light"));
  dark.addEventListener("change", () => { if (!recall()) set(dark.matches ? "dark" : "light"); });
  button.addEventListener("click", () => { set(root.dataset.theme === "dark" ? "light" : "dark"); keep(root.dataset.theme); });
  // Paper is light, and nothing can be unfolded on it.
  let before = null, folded = [];
  addEventListener("beforeprint", () => {
    before = root.dataset.theme;
    folded = [...document.querySelectorAll("details:not([open], .quiet)")];
    for (const one of folded) one.open = true;
    set("light");
  });
  addEventListener("afterprint", () => {
    for (const one of folded) one.open = false;
    if (before) set(before);
  });
}
