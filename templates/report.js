// The page itself: its theme, its tables, what is copied, and where a link leads.

const SHOWN = 12;
// Of a table whose rows may be hidden: what brings one of them back.
const unfolding = new WeakMap();

function theme() {
  const root = document.documentElement, button = document.getElementById("theme");
  let dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const show = () => {
    root.dataset.theme = dark ? "dark" : "light";
    button.textContent = dark ? "Light" : "Dark";
    document.querySelectorAll("picture source").forEach((source) => { source.media = dark ? "all" : "not all"; });
    document.dispatchEvent(new Event("themechange"));
  };
  button.hidden = false;
  button.addEventListener("click", () => { dark = !dark; show(); });
  show();
}

// What a cell is sorted by: its figure, else its words.
function key(row, column) {
  const cell = row.cells[column];
  if (cell.dataset.sort !== undefined) { return Number(cell.dataset.sort); }
  const text = cell.textContent.replace(/\s/g, "").replace("\u2212", "-").replace("<", "");
  return /^-?[\d.]+/.test(text) ? parseFloat(text) : cell.textContent.trim().toLowerCase();
}

function compare(a, b) {
  if (typeof a === typeof b) { return a < b ? -1 : a > b ? 1 : 0; }
  return typeof a === "number" ? -1 : 1;
}

// Rows of totals and of what is left over keep their place at the end.
function sortable(table) {
  const body = table.tBodies[0], original = [...body.rows];
  const free = original.filter((row) => !row.className), fixed = original.filter((row) => row.className);
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    const button = make("button", { type: "button", class: "sort" }, ...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") !== "descending";
      [...head.parentNode.cells].forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      free.sort((a, b) => (down ? -1 : 1) * compare(key(a, column), key(b, column)));
      body.append(...free, ...fixed);
      table.dispatchEvent(new Event("sorted"));
    });
  });
  if (free.length > 8) { filterable(table, free, fixed, folded(table, free)); }
}

// Of a long table the first rows are shown, and a button brings the others. Returns what folds it again, or unfolds it.
function folded(table, rows) {
  const body = table.tBodies[0];
  if (rows.length <= SHOWN + 4) { return () => {}; }
  const button = make("button", { type: "button", class: "more" });
  let on = true;
  const show = (wanted = on) => {
    on = wanted;
    [...body.rows].filter((row) => !row.className).forEach((row, number) => { row.hidden = on && number >= SHOWN; });
    button.textContent = on ? `Show all ${rows.length} rows` : `Show ${SHOWN} rows`;
    button.setAttribute("aria-expanded", String(!on));
  };
  button.addEventListener("click", () => show(!on));
  table.parentNode.after(button);
  show();
  return show;
}

function filterable(table, rows, fixed, refold) {
  const input = make("input", { type: "search" }), told = make("span", { "aria-live": "polite" });
  table.parentNode.before(make("label", { class: "filter" }, "Filter rows ", input, " ", told));
  const words = new Map(rows.map((row) => [row, wordsOf(row).text]));
  const filter = () => {
    const wanted = plain(input.value.trim());
    rows.forEach((row) => { row.hidden = wanted !== "" && !words.get(row).includes(wanted); });
    fixed.forEach((row) => { row.hidden = wanted !== ""; });
    if (wanted === "") { refold(); }
    told.textContent = wanted === "" ? "" : `${rows.filter((row) => !row.hidden).length} of ${rows.length}`;
  };
  table.addEventListener("sorted", () => { if (input.value.trim() === "") { refold(); } });
  input.addEventListener("input", filter);
  unfolding.set(table, () => { input.value = ""; filter(); refold(false); });
}

// Bring back what is hidden around an element: a folded row, a closed chart.
function reveal(element) {
  const row = element.closest("tr[hidden]");
  if (row) { unfolding.get(row.closest("table"))(); }
  const details = element.closest("details");
  if (details) { details.open = true; }
}

function copy(button) {
  if (!navigator.clipboard) { return; }
  const words = button.textContent;
  button.hidden = false;
  button.addEventListener("click", () => {
    navigator.clipboard.writeText(button.dataset.copy).then(() => {
      button.textContent = "Copied";
      setTimeout(() => { button.textContent = words; }, 1500);
    }, () => { button.textContent = "Not allowed here"; });
  });
}

// Replace a chart by one to explore; one that stands in a closed element is made when that is opened.
function explore(host) {
  const build = () => {
    const data = JSON.parse(host.querySelector("script").textContent), picture = host.querySelector("picture");
    const [kind, words] = host.dataset.explore === "timeline"
      ? [Timeline, `Timeline of step ${data.step} of ${data.case}`] : [Curve, `Memory of ${data.case} over one step`];
    const label = picture ? `${words}. ${picture.querySelector("img").alt}` : words;
    const panel = new kind(host, data, words, label);
    if (picture) {
      picture.before(panel.element);
      picture.classList.add("replaced");
    } else {
      host.append(panel.element);
    }
    panel.redraw();
    return panel;
  };
  host.hidden = false;
  let panel = host.tagName === "DETAILS" ? null : build();
  host.addEventListener("toggle", () => { panel = panel || build(); });
  return { host, get panel() { panel = panel || build(); return panel; } };
}

// A link into a timeline has it show what the link names; any other finds what is folded away.
function follow(event, explored) {
  const link = event.target.closest('a[href^="#"]');
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) { return; }
  const target = link.classList.contains("show") && explored.find(({ host }) => `#${host.id}` === link.hash);
  if (!target) {
    const there = document.getElementById(link.hash.slice(1));
    if (there) { reveal(there); }
    return;
  }
  event.preventDefault();
  const { from, to, row, label } = link.dataset;
  target.host.open = true;
  target.panel.show({ from: Number(from), to: Number(to), row, label });
  target.panel.element.scrollIntoView({ block: "center" });
  target.panel.canvas.focus({ preventScroll: true });
}

// The Tab key stops at a box only while there is something to scroll in it.
function reachable() {
  document.querySelectorAll(".scroll, figure").forEach((box) => {
    if (box.scrollWidth > box.clientWidth + 1) { box.tabIndex = 0; } else { box.removeAttribute("tabindex"); }
  });
}

// An address with the name of a row that is folded away finds it.
function arrive() {
  const target = document.getElementById(location.hash.slice(1));
  if (target) { reveal(target); target.scrollIntoView({ block: target.tagName === "TR" ? "center" : "start" }); }
}

theme();
document.querySelectorAll("table[data-sortable]").forEach(sortable);
document.querySelectorAll("button.copy").forEach(copy);
const explored = [...document.querySelectorAll("[data-explore]")].map(explore);
document.addEventListener("click", (event) => follow(event, explored));
new ResizeObserver(reachable).observe(document.getElementById("main"));
window.addEventListener("hashchange", arrive);
arrive();
const timelines = () => explored.filter(({ host }) => host.dataset.explore === "timeline").map(({ panel }) => panel);
new Search(document.getElementById("search"), reveal, timelines);
