// Search by name: which events match, and which of them comes next.

class Matches {
  constructor(events, names, text) {
    this.text = text;
    const wanted = text.toLowerCase();
    this.names = names.map((name) => name.toLowerCase().includes(wanted));
    const found = [];
    for (let i = events.first[1] || 0; i < events.n; i++) if (this.names[events.name[i]]) found.push(i);
    this.at = found.sort((a, b) => events.start[a] - events.start[b]); // idle time bears names of others
    this.current = -1;
  }

  // The one after (or before) the current one, at first the first from a time on; null without any.
  next(events, way, from) {
    const count = this.at.length;
    if (!count) return null;
    if (this.current >= 0) this.current = (this.current + way + count) % count;
    else {
      const later = this.at.findIndex((i) => events.start[i] >= from);
      this.current = way > 0 ? Math.max(later, 0) : (((later < 0 ? count : later) - 1) + count) % count;
    }
    return this.at[this.current];
  }
}
