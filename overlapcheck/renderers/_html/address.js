// What is shown, in the page's address: #view-0=120000-950000&select-0=...&find-0=gemm, times in ns
// from the window's start. Leaps make an entry in the history, all else rewrites the last.

const SETTLED_MS = 300;

function Address(parts) { // by number: {t, search}
  const home = new Map([...parts].map(([n, { t }]) => [n, t.view()]));
  const spell = ([from, to]) => `${Math.round(from)}-${Math.round(to)}`;
  let written = "", waiting = 0, quiet = false;

  function text() {
    const found = new URLSearchParams();
    for (const [n, { t, search }] of parts) {
      if (spell(t.view()) !== spell(home.get(n))) found.set(`view-${n}`, spell(t.view()));
      if (t.selection) found.set(`select-${n}`, spell(t.selection));
      if (search.text) found.set(`find-${n}`, search.text);
    }
    return String(found);
  }

  // A page in a frame that may not have a history does without.
  function write(how, state) {
    clearTimeout(waiting);
    waiting = 0;
    if (state === written) return;
    written = state;
    try { history[how](null, "", state ? "#" + state : location.pathname + location.search); } catch { /* no history */ }
  }

  let latest = "";
  function changed(leapt) {
    if (quiet) return;
    const now = text();
    if (leapt) { if (waiting) write("replaceState", latest); write("pushState", now); }
    else { clearTimeout(waiting); waiting = setTimeout(() => write("replaceState", text()), SETTLED_MS); }
    latest = now;
  }

  function span(found, key, t) {
    const match = /^(\d{1,16})-(\d{1,16})$/.exec(found.get(key) || "");
    const [from, to] = match ? [Number(match[1]), Math.min(Number(match[2]), t.length)] : [0, 0];
    return to > from ? [from, to] : null;
  }

  function restore() {
    const hash = location.hash.slice(1);
    if (hash && !hash.includes("=")) return; // leads to a part of the page
    const found = new URLSearchParams(hash);
    quiet = true;
    for (const [n, { t, search }] of parts) {
      t.show(...(span(found, `view-${n}`, t) || home.get(n)));
      t.select(...(span(found, `select-${n}`, t) || [null, null]));
      search.set((found.get(`find-${n}`) || "").slice(0, 200));
    }
    quiet = false;
    clearTimeout(waiting);
    waiting = 0;
    written = latest = text();
  }

  restore();
  addEventListener("popstate", restore);
  return { changed };
}
