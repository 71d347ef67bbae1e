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
    range.textContent = `${duration(to - from)} shown, from +${duration(from)} after ${data.origin}`;
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
  if (data.lanes.length === 2 && !lane.meetings.length && base.step !== null) {
    const other = data.lanes[1 - n].step;
    if (other !== null) drawEnd(t, c, other, bottom, [3, 3]);
    if (n === 1) drawChange(t, c, base.step, lane.step, bottom);
  }
  drawEnd(t, c, lane.step, bottom, []);
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
  const from = Math.min(Math.max((a + b - wide) / 2, 0), t.width - wide);
  c.fillRect(from, t.top + 1, wide, 17);
  c.fillStyle = t.css.bg;
  c.textBaseline = "middle"; c.fillText(text, from + 4, t.top + 10); c.textBaseline = "alphabetic";
}

// Collectives that ranks met in: hollow while waiting, a line through all lanes when the last rank
// came, and a number that is the same on all ranks.
function drawMeetings(t, c, meetings, bottom) {
  let free = -Infinity;
  for (const [row, occasion, start, until, end, said] of meetings) {
    const [a, m, b] = [start, until, end].map((ns) => t.x(ns));
    if (b < 0 || a > t.width) continue;
    const [y, h] = t.rows[row], color = t.css.of(1).color;
    if (m - a >= 1) {
      const from = Math.max(a, -2), wide = Math.min(m, t.width + 2) - from;
      c.fillStyle = t.css.bg; c.globalAlpha = 0.72; c.fillRect(from, y + 3, wide, h - 6); c.globalAlpha = 1;
      c.strokeStyle = color; c.lineWidth = 1; c.setLineDash([3, 2]);
      c.strokeRect(from + 0.5, y + 3.5, Math.max(wide - 1, 1), h - 7);
      c.setLineDash([]);
      const text = fitted(c, [said, "waits"], wide - 24);
      if (text) { c.font = "11px " + t.css.sans; c.fillStyle = t.css.text; c.textBaseline = "middle"; c.fillText(text, Math.max(from, 0) + 18, y + h / 2 + 0.5); c.textBaseline = "alphabetic"; }
    }
    if (m < free || m < 0 || m > t.width) continue;
    free = m + MEETING_PX;
    c.strokeStyle = color; c.lineWidth = 1; c.setLineDash([2, 2]);
    c.beginPath(); c.moveTo(m, t.top); c.lineTo(m, bottom); c.stroke();
    c.setLineDash([]);
    const text = String(occasion + 1);
    c.font = "bold 10px " + t.css.sans;
    c.textAlign = "center"; c.textBaseline = "middle";
    const x = Math.min(Math.max(a + 8, 8), t.width - 8);
    c.fillStyle = t.css.mark; c.beginPath(); c.arc(x, y + h / 2, 7, 0, 7); c.fill();
    c.fillStyle = t.css.bg; c.fillText(text, x, y + h / 2 + 0.5);
    c.textAlign = "left"; c.textBaseline = "alphabetic";
  }
}
