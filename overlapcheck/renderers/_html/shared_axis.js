// Several timelines on one axis: what is in view is the same time of all of them.
// data: {length, view, origin, lanes: [{timeline, step, meetings}]}, see _html_shared_axis.py.

const MEETING_PX = 26; // collectives at least this far apart are numbered

function SharedAxis(figure, data) {
  const toolbar = figure.querySelector(".toolbar"), range = make("output", { class: "range num dim", "aria-label": "shown part" });
  const lanes = data.lanes.map((lane, n) => {
    const stage = figure.querySelectorAll(".stage")[n];
    const options = { length: data.length, bare: true, origin: data.origin, label: stage.dataset.label, hint: figure.dataset.hint };
    return Timeline(stage, lane.timeline, { ...options, drawOver: (t, c) => drawOver(t, c, data, n) });
  });
  const follow = (from, to) => {
    for (const t of lanes) t.show(from, to); // which tells nobody where nothing changes
    range.textContent = `${duration(to - from)} shown, from ${from > 0 ? `${duration(from)} after ` : ""}${data.origin}`;
  };
  for (const t of lanes) t.onview(follow);
  const act = { typical: () => lanes[0].show(...data.view) };
  for (const [name, text, label] of BUTTONS) {
    const shown = { typical: "one step", all: "all that is drawn" }[name] || text;
    const button = make("button", { type: "button", "data-do": name, "aria-label": label || null, title: label || null }, shown);
    button.addEventListener("click", act[name] || (() => lanes[0].act(name)));
    toolbar.append(button);
  }
  toolbar.append(range);
  lanes[0].show(...data.view);
  follow(...lanes[0].view());
  return lanes;
}

// Over the events of a lane: where its step ends, where the first lane's does, and who waited.
function drawOver(t, c, data, n) {
  const lane = data.lanes[n], base = data.lanes[0], bottom = t.rows.length ? t.rows.at(-1)[0] + t.rows.at(-1)[1] : 0;
  drawMeetings(t, c, lane.meetings, bottom);
  if (lane.step === null) return;
  if (data.compared && data.lanes.length === 2) {
    const other = data.lanes[1 - n].step;
    if (other !== null) drawEnd(t, c, other, bottom, [3, 3]);
  }
  drawEnd(t, c, lane.step, bottom, []);
  if (data.compared && n === 1 && base.step !== null) drawChange(t, c, base.step, lane.step, bottom);
}

function drawEnd(t, c, ns, bottom, dash) {
  const x = Math.round(t.x(ns));
  if (x < 0 || x > t.width) return;
  c.strokeStyle = t.css.mark;
  c.lineWidth = dash.length ? 1 : 2;
  c.setLineDash(dash);
  c.beginPath(); c.moveTo(x, 19); c.lineTo(x, bottom); c.stroke();
  c.setLineDash([]);
}

// What was won or lost, as a band between both ends.
function drawChange(t, c, was, is, bottom) {
  const css = getComputedStyle(document.documentElement), [a, b] = [was, is].map((ns) => t.x(ns)).sort((p, q) => p - q);
  if (b < 0 || a > t.width || was === is) return;
  c.fillStyle = c.strokeStyle = css.getPropertyValue(is < was ? "--pass" : "--fail").trim();
  c.globalAlpha = 0.14;
  c.fillRect(a, t.top, b - a, bottom - t.top);
  c.globalAlpha = 1;
  const text = (is < was ? "\u2212" : "+") + duration(Math.abs(was - is));
  c.font = "600 12px " + t.css.sans;
  const wide = c.measureText(text).width + 8;
  const from = Math.min(Math.max(b - a > wide ? (a + b - wide) / 2 : a + 3, 0), t.width - wide);
  c.fillRect(from, t.top + 1, wide, 17);
  c.fillStyle = t.css.bg;
  c.textBaseline = "middle"; c.fillText(text, from + 4, t.top + 10); c.textBaseline = "alphabetic";
}

// Collectives that ranks met in: hollow while waiting, a line through all lanes when the last rank
// came, and a number that is the same on all ranks.
function drawMeetings(t, c, meetings, bottom) {
  const { fill, color } = t.css.of(1), idle = idleShares(t.events, ...t.view(), t.width);
  let free = -Infinity;
  for (const [row, occasion, start, until, end, kind, late] of meetings) {
    const [a, m, b] = [start, until, end].map((ns) => Math.min(Math.max(t.x(ns), -4), t.width + 4)), [y, h] = t.rows[row];
    if (b < 0 || a > t.width) continue;
    const lead = a >= 0 && a < t.width - 8 && b - a > 18 ? 20 : 4; // room for the number
    c.fillStyle = t.css.bg;
    c.fillRect(a, y + 1, b - a, h - 2);
    c.fillStyle = fill;
    if (b - m >= 1) drawMoving(t, c, m, b, y + 3, h - 6, idle, 1);
    c.globalAlpha = 1;
    if (m - a >= 1) {
      c.strokeStyle = color;
      drawDashed(c, [3, 2], () => c.strokeRect(a + 0.5, y + 3.5, Math.max(m - a - 1, 1), h - 7));
      write(t, c, [`waits for rank ${late}`, `for ${late}`, "waits"], a + lead, m - 4, y + h / 2, null);
    }
    write(t, c, [kind], m + (m > a ? 4 : lead), b - 4, y + h / 2, t.css.of(1));
    if (m < free || m < 0 || m > t.width) continue;
    free = m + MEETING_PX;
    c.strokeStyle = color;
    drawDashed(c, [2, 2], () => { c.beginPath(); c.moveTo(m, t.top); c.lineTo(m, bottom); c.stroke(); });
    drawNumber(t, c, occasion + 1, Math.min(Math.max(a + 9, 9), t.width - 9), y + h / 2);
  }
}

function drawDashed(c, dash, stroke) {
  c.lineWidth = 1;
  c.setLineDash(dash);
  stroke();
  c.setLineDash([]);
}

// The first of some texts that fits between two pixels, on a ground that it can be read on.
function write(t, c, texts, from, to, middle, style) {
  c.font = "11px " + t.css.sans;
  const left = Math.max(from, 4), text = texts.find((one) => widthOf(c, one) <= to - left);
  if (!text) return;
  if (style) { c.fillStyle = style.color; c.fillRect(left - 2, middle - 7, widthOf(c, text) + 4, 14); }
  c.fillStyle = style ? style.text : t.css.text;
  c.textBaseline = "middle"; c.fillText(text, left, middle + 0.5); c.textBaseline = "alphabetic";
}

function drawNumber(t, c, number, x, y) {
  c.font = "bold 10px " + t.css.sans;
  c.textAlign = "center"; c.textBaseline = "middle";
  c.fillStyle = t.css.mark; c.beginPath(); c.arc(x, y, 7, 0, 7); c.fill();
  c.fillStyle = t.css.bg; c.fillText(String(number), x, y + 0.5);
  c.textAlign = "left"; c.textBaseline = "alphabetic";
}
