(function () {
  "use strict";
  var root = document.documentElement, SHOWN = 12;

  function theme() {
    var button = document.getElementById("theme");
    var dark = matchMedia("(prefers-color-scheme: dark)").matches;
    function show() {
      root.dataset.theme = dark ? "dark" : "light";
      button.textContent = dark ? "Light" : "Dark";
      document.querySelectorAll("picture source").forEach(function (source) {
        source.media = dark ? "all" : "not all";
      });
    }
    button.hidden = false;
    button.addEventListener("click", function () { dark = !dark; show(); });
    show();
  }

  function key(row, column) {
    var cell = row.cells[column];
    if (cell.dataset.sort !== undefined) { return Number(cell.dataset.sort); }
    var text = cell.textContent.replace(/[\s\u00a0\u202f]/g, "").replace("\u2212", "-").replace("<", "");
    return /^-?[\d.]+/.test(text) ? parseFloat(text) : cell.textContent.trim().toLowerCase();
  }

  function compare(a, b) {
    if (typeof a === typeof b) { return a < b ? -1 : a > b ? 1 : 0; }
    return typeof a === "number" ? -1 : 1;
  }

  // Rows of totals and of what is left over keep their place at the end.
  function sortable(table) {
    var body = table.tBodies[0], original = Array.from(body.rows);
    var free = original.filter(function (row) { return !row.className; });
    var fixed = original.filter(function (row) { return row.className; });
    Array.from(table.tHead.rows[0].cells).forEach(function (head, column) {
      var button = document.createElement("button");
      button.type = "button";
      button.className = "sort";
      while (head.firstChild) { button.appendChild(head.firstChild); }
      head.appendChild(button);
      button.addEventListener("click", function () {
        var down = head.getAttribute("aria-sort") !== "descending";
        Array.from(head.parentNode.cells).forEach(function (other) { other.removeAttribute("aria-sort"); });
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        free.sort(function (a, b) { var order = compare(key(a, column), key(b, column)); return down ? -order : order; });
        free.concat(fixed).forEach(function (row) { body.appendChild(row); });
        table.dispatchEvent(new Event("sorted"));
      });
    });
    if (free.length > 8) { filterable(table, free, fixed, folded(table, free)); }
  }

  // Of a long table the first rows are shown, and a button brings the others.
  function folded(table, rows) {
    var body = table.tBodies[0];
    function fold(on) {
      Array.from(body.rows).filter(function (row) { return !row.className; }).forEach(function (row, number) {
        row.hidden = on && number >= SHOWN;
      });
    }
    if (rows.length <= SHOWN + 4) { return null; }
    var button = document.createElement("button"), on = true;
    button.type = "button";
    button.className = "more";
    function show() {
      fold(on);
      button.textContent = on ? "Show all " + rows.length + " rows" : "Show " + SHOWN + " rows";
      button.setAttribute("aria-expanded", String(!on));
    }
    button.addEventListener("click", function () { on = !on; show(); });
    table.parentNode.after(button);
    show();
    return show;
  }

  function filterable(table, rows, fixed, refold) {
    var label = document.createElement("label"), input = document.createElement("input"), count = document.createElement("span");
    label.className = "filter";
    input.type = "search";
    count.setAttribute("aria-live", "polite");
    label.append("Filter rows ", input, " ", count);
    table.parentNode.before(label);
    if (refold) { table.addEventListener("sorted", function () { if (input.value.trim() === "") { refold(); } }); }
    input.addEventListener("input", function () {
      var wanted = input.value.trim().toLowerCase(), shown = 0;
      rows.forEach(function (row) {
        row.hidden = wanted !== "" && row.textContent.toLowerCase().indexOf(wanted) < 0;
        shown += row.hidden ? 0 : 1;
      });
      fixed.forEach(function (row) { row.hidden = wanted !== ""; });
      if (wanted === "" && refold) { refold(); }
      count.textContent = wanted === "" ? "" : shown + " of " + rows.length;
    });
  }

  function copy(button) {
    if (!navigator.clipboard) { return; }
    var words = button.textContent;
    button.hidden = false;
    button.addEventListener("click", function () {
      navigator.clipboard.writeText(button.dataset.copy).then(function () {
        button.textContent = "Copied";
        setTimeout(function () { button.textContent = words; }, 1500);
      }, function () { button.textContent = "Not allowed here"; });
    });
  }

  theme();
  document.querySelectorAll("table[data-sortable]").forEach(sortable);
  document.querySelectorAll("button.copy").forEach(copy);
})();
