"use strict";
// Numbers as words, and names cut to the room there is.

function duration(ns) {
  for (const [size, unit] of [[1e9, "s"], [1e6, "ms"], [1e3, "us"]])
    if (Math.abs(ns) >= size * 0.99995) return (ns / size).toFixed(1) + " " + unit;
  return Math.round(ns) + " ns";
}

function bytesText(count) {
  for (const [size, unit] of [[2 ** 40, "TiB"], [2 ** 30, "GiB"], [2 ** 20, "MiB"], [1024, "KiB"]])
    if (count >= size) return (count / size).toFixed(1) + " " + unit;
  return count + " B";
}

// "128.0 MiB" as "128 MiB", for where room is short.
function brief(text) { return text.replace(/\.0(?= )/, ""); }

function percentText(part, whole) { return ((100 * part) / Math.max(whole, 1)).toFixed(1) + " %"; }

// A kernel's name without return type, namespaces, template arguments and arguments.
function shortName(text) {
  const plain = text.replace(/^void /, "").replace(/\(anonymous namespace\)::/g, "");
  let depth = 0, bare = "";
  for (const sign of plain) {
    if (sign === "<") depth++;
    else if (sign === ">") depth--;
    else if (depth <= 0 && sign === "(") break;
    else if (depth <= 0) bare += sign;
  }
  return bare.split("::").at(-1).trim() || text;
}

const widths = new Map(); // of texts in the font of labels, which is one

function widthOf(c, text) {
  let wide = widths.get(text);
  if (wide === undefined) {
    if (widths.size > 20000) widths.clear();
    widths.set(text, (wide = c.measureText(text).width));
  }
  return wide;
}

// The first of some texts that fits, else the last without its middle, or without its end; "" where
// that would say nothing.
function fitted(c, texts, room, end = false) {
  for (const text of texts) if (text && widthOf(c, text) <= room) return text;
  const text = texts.at(-1) || "", last = (keep) => (end ? 0 : Math.floor(keep / 2));
  const cut = (keep) => text.slice(0, keep - last(keep)) + "\u2026" + text.slice(text.length - last(keep));
  let low = 3, high = text.length; // low fits, high does not
  if (high < 5 || c.measureText(cut(low)).width > room) return "";
  while (low + 1 < high) {
    const keep = (low + high) >> 1;
    if (c.measureText(cut(keep)).width <= room) low = keep; else high = keep;
  }
  return cut(low);
}
