// The elements of a timeline, made inside the one that it is given.

function make(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null) element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

const BUTTONS = [["zoom-in", "+", "zoom in"], ["zoom-out", "\u2212", "zoom out"], ["left", "\u2190", "earlier"],
  ["right", "\u2192", "later"], ["all", "whole window", ""], ["typical", "typical steps", ""]];

// Fills the element and the timeline's fields for its parts; rows of the labels align with the plot.
function build(t, element, options) {
  const flagged = t.data.instances.some((one) => one.color);
  t.range = make("output", { class: "range num dim", "aria-label": "shown part" });
  const buttons = BUTTONS.filter(([act]) => act !== "typical" || t.data.steps[0].length).map(([act, text, label]) =>
    make("button", { type: "button", "data-do": act, "aria-label": label || null, title: label || null }, text));
  t.toolbar = make("div", { class: "toolbar", role: "group", "aria-label": `view of ${options.label || "the timeline"}` }, ...buttons, t.range);
  t.over = make("canvas", { class: "overview", "aria-hidden": "true" });
  t.axisTitle = make("span", { class: "unit" });
  t.labels = make("ol", { class: "labels" },
    make("li", { class: "row axis dim" }, t.axisTitle, make("span", {}, "steps")),
    ...(flagged ? [make("li", { class: "row worst dim" }, make("span", {}, "worst pieces"))] : []),
    ...t.data.rows.map((row) => make("li", { class: `row ${row.role}`, title: `${row.label} ${row.note}` }, make("b", {}, row.label), make("span", { class: "dim" }, row.note))));
  t.plot = make("canvas", { class: "plot", tabindex: 0, role: "application", "aria-roledescription": "timeline",
    "aria-label": options.label || "timeline", "aria-describedby": options.hint || null });
  t.flags = make("div", { class: "flags" });
  t.tip = make("div", { class: "tip", role: "status", hidden: true });
  t.plotbox = make("div", { class: "plotbox" }, t.plot, t.flags, t.tip);
  t.chainBox = make("div", { class: "chain", "aria-live": "polite", hidden: true });
  t.measuredBox = make("dl", { class: "measured", "aria-live": "polite", hidden: true });
  element.prepend(...(options.bare ? [] : [t.toolbar, make("div", { class: "over" }, t.over)]),
    make("div", { class: "lanes" }, t.labels, t.plotbox), t.measuredBox, t.chainBox);
}
