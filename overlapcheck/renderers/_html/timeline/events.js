// The events of a timeline, as columns sorted by row and start; see _html_timeline.py for the format.

const IDLE = 32; // kinds from here on are causes of idle time, which fill row 0
const RANGE = 11;
const MOVING = new Set([1, 2, 3, 4, 5, 7]); // collectives, copies and migrations: exposed or hidden

function unpack(text, type) {
  const raw = atob(text), bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  return new type(bytes.buffer);
}

// First index in [lo, hi) whose value is above x.
function above(values, x, lo, hi) {
  while (lo < hi) {
    const mid = (lo + hi) >> 1;
    if (values[mid] > x) hi = mid; else lo = mid + 1;
  }
  return lo;
}

class Events {
  constructor(data) {
    const start = unpack(data.start, Uint32Array), span = unpack(data.span, Float32Array);
    this.n = start.length;
    this.start = new Float64Array(this.n);
    this.end = new Float64Array(this.n);
    this.reach = new Float64Array(this.n); // latest end so far in the row: where a view begins
    this.kind = unpack(data.kind, Uint8Array);
    this.name = unpack(data.name, Uint16Array);
    this.count = new Uint32Array(this.n).fill(1);
    this.busy = new Float32Array(this.n);
    this.bytes = new Map();
    this.first = data.first;
    for (let i = 0; i < this.n; i++) {
      this.start[i] = start[i] * data.unit;
      this.end[i] = this.start[i] + span[i];
      this.busy[i] = span[i];
    }
    for (let row = 0; row + 1 < data.first.length; row++)
      for (let i = data.first[row], far = 0; i < data.first[row + 1]; i++)
        this.reach[i] = far = Math.max(far, this.end[i]);
    const merged = unpack(data.merged, Uint32Array), moving = unpack(data.moving, Uint32Array);
    const count = unpack(data.count, Uint32Array), busy = unpack(data.busy, Float32Array);
    merged.forEach((at, i) => { this.count[at] = count[i]; this.busy[at] = busy[i]; });
    const bytes = unpack(data.bytes, Float32Array);
    moving.forEach((at, i) => this.bytes.set(at, bytes[i]));
  }

  get rows() { return this.first.length - 1; }

  // Indices of a row's events that touch a time.
  range(row, from, to) {
    const lo = this.first[row], hi = this.first[row + 1];
    return [above(this.reach, from, lo, hi), above(this.start, to, lo, hi)];
  }

  // The row of an event.
  rowOf(i) { return above(this.first, i, 0, this.first.length) - 1; }

  // How much of an event's busy time lies in a span: of a block, its share.
  within(i, from, to) {
    const shared = Math.min(this.end[i], to) - Math.max(this.start[i], from), whole = this.end[i] - this.start[i];
    return shared <= 0 ? 0 : whole > 0 ? (Math.min(this.busy[i], whole) * shared) / whole : 0;
  }

  // Adds an event's busy time to shares of pixels, the view being [from, from + sum.length / k).
  spread(i, sum, from, k) {
    const x0 = (this.start[i] - from) * k, x1 = (this.end[i] - from) * k;
    const a = Math.max(Math.floor(x0), 0), b = Math.min(Math.floor(x1), sum.length - 1);
    if (a === b) { sum[a] += this.busy[i] * k; return; }
    const density = (this.busy[i] * k) / (x1 - x0);
    for (let p = a; p <= b; p++) sum[p] += density * (Math.min(p + 1, x1) - Math.max(p, x0));
  }
}
