// The heat map of ranks: filter, order by a column, open the row that a link leads to.
(() => {
  const table = document.querySelector(".map table");
  if (!table) return;
  const heads = [...table.querySelectorAll("thead th")], body = table.tBodies[0], rows = [...body.rows];
  const box = document.getElementById("filter"), count = document.getElementById("shown"), all = count.textContent;
  const texts = heads.flatMap((head, i) => (head.dataset.by === "text" ? [i] : []));
  const label = (row) => row.querySelector("summary").textContent;
  const words = rows.map((row) => [label(row), ...texts.map((i) => row.cells[i].textContent)].join(" ").toLowerCase());

  // Rows in their order, and those of them that are asked for. A row that is not shown is taken out:
  // to hide thousands of table rows takes browsers half a minute.
  let ordered = rows, asked = rows;
  const show = () => { const some = new Set(asked); body.replaceChildren(...ordered.filter((row) => some.has(row))); };

  // Numbers and ranges name ranks, any of which will do; every other word has to be in the row.
  function filter() {
    const given = box.value.toLowerCase().split(/[\s,]+/).filter((word) => word && word !== "ranks" && word !== "rank");
    const isRange = (word) => /^\d+(-\d+)?$/.test(word);
    const ranges = given.filter(isRange).map((word) => word.split("-").map(Number)), rest = given.filter((word) => !isRange(word));
    asked = rows.filter((row, i) => {
      const rank = Number(label(row));
      const named = !ranges.length || ranges.some(([from, to = from]) => rank >= from && rank <= to);
      return named && rest.every((word) => words[i].includes(word));
    });
    show();
    count.textContent = given.length ? `${asked.length} of ${all}` : all;
  }

  const number = (cell) => { const n = parseFloat(cell.dataset.ns || cell.textContent); return isNaN(n) ? -1 : n; };

  // Text and ranks from the first on, numbers from the largest; again: the other way.
  function order(head, column) {
    const usual = column === 0 || head.dataset.by === "text" ? "ascending" : "descending";
    const way = head.ariaSort !== usual ? usual : usual === "ascending" ? "descending" : "ascending";
    for (const one of heads) one.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", way);
    const keys = new Map(rows.map((row, i) => {
      const cell = row.cells[column];
      return [row, column === 0 ? i : head.dataset.by === "text" ? cell.textContent : number(cell)];
    }));
    const sign = way === "ascending" ? 1 : -1;
    const compare = (a, b) => (typeof a === "string" ? a.localeCompare(b) : a - b);
    ordered = [...rows].sort((a, b) => sign * compare(keys.get(a), keys.get(b)));
    show();
  }

  function follow() {
    const id = decodeURIComponent(location.hash.slice(1)), row = id && rows.find((one) => one.id === id);
    if (!row) return;
    if (!asked.includes(row)) { box.value = ""; filter(); }
    row.querySelector("details").open = true;
    row.scrollIntoView();
  }

  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => order(head, column));
  });
  box.addEventListener("input", filter);
  // A click on the link of the row that is shown already changes no hash.
  for (const link of document.querySelectorAll('a[href^="#rank-"]')) link.addEventListener("click", () => setTimeout(follow));
  addEventListener("hashchange", follow);
  follow();
})();
