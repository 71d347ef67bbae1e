// The search box of a timeline: counts as one types; Enter goes on, with shift back, Escape clears.

function Search(box, t, oncommit) {
  const input = box.querySelector("input"), count = box.querySelector("output");
  let found = 0, at = 0;
  const told = () => { count.textContent = !input.value ? "" : !found ? "none" : at ? `${at} of ${found}` : String(found); };
  const find = () => { at = 0; found = t.find(input.value.trim()); told(); };
  const step = (way) => { if (found) { at = t.step(way); told(); } };
  input.addEventListener("input", () => { find(); oncommit(false); });
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter") step(event.shiftKey ? -1 : 1);
    else if (event.key === "Escape") { input.value = ""; find(); oncommit(true); t.plot.focus({ preventScroll: true }); }
    else return;
    event.preventDefault();
  });
  for (const button of box.querySelectorAll("button")) button.addEventListener("click", () => step(Number(button.dataset.way)));
  return {
    focus: () => input.focus(),
    get text() { return input.value.trim(); },
    set: (text) => { if (text !== input.value.trim()) { input.value = text; find(); } },
  };
}
