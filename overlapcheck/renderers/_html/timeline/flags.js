// The worst pieces of each cause as flags; those out of view are arrows at the edge that lead there.

const FLAG_PX = 20;
const MAX_ARROWS = 3; // on each side

function placeFlags(t) {
  const [from, to] = t.view(), inside = [], before = [], after = [];
  const flagged = t.data.instances.filter((one) => one.color && (!t.filter || one.cause === t.filter));
  for (const one of flagged) (one.span[1] < from ? before : one.span[0] > to ? after : inside).push(one);
  // The costliest causes come first in the data: where flags would overlap, those stay.
  const taken = [], flags = [], y = t.flagsTop;
  for (const one of inside) {
    const x = Math.min(Math.max(t.x((Math.max(one.span[0], from) + Math.min(one.span[1], to)) / 2), FLAG_PX / 2), t.width - FLAG_PX / 2);
    if (taken.some((other) => Math.abs(other - x) < FLAG_PX)) continue;
    taken.push(x);
    flags.push(flag(t, one, "", x, y));
  }
  before.sort((a, b) => b.span[1] - a.span[1]);
  after.sort((a, b) => a.span[0] - b.span[0]);
  for (const [side, far] of [["left", nearest(before)], ["right", nearest(after)]])
    far.forEach((one, n) => {
      const x = FLAG_PX * 0.8 + n * FLAG_PX * 1.6;
      flags.push(flag(t, one, side, side === "left" ? x : t.width - x, y));
    });
  const arrows = t.instance ? chainArrows(t) : [];
  const focused = document.activeElement?.closest(".flags") ? document.activeElement.dataset.key : null;
  t.flags.replaceChildren(...flags, ...arrows);
  if (focused) [...t.flags.children].find((one) => one.dataset.key === focused)?.focus({ preventScroll: true });
}

// Of each cause the nearest piece.
function nearest(far) {
  const causes = new Map();
  for (const one of far) if (!causes.has(one.cause)) causes.set(one.cause, one);
  return [...causes.values()].slice(0, MAX_ARROWS);
}

function flag(t, one, side, x, y) {
  const where = side === "left" ? "earlier: " : side === "right" ? "later: " : "";
  const text = `${where}${one.cause}, ${duration(one.span[1] - one.span[0])}`, number = one.rank || "\u2022";
  const shown = side === "left" ? `\u25c2${number}` : side === "right" ? `${number}\u25b8` : number;
  return edgeButton(`flag sw ${one.color} ${side ? "out " + side : ""}`, shown, text, x, y, `${one.cause} ${one.span[0]} ${side}`, () => t.go(one));
}

function edgeButton(look, shown, text, x, y, key, act) {
  const button = make("button", { type: "button", class: look, title: text, "aria-label": text, "data-key": key }, make("span", {}, shown));
  button.style.left = `${x}px`;
  button.style.top = `${y}px`;
  button.addEventListener("click", act);
  return button;
}
