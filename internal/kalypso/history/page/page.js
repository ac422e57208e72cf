"use strict";
{
  const all = (selector, of = document) => [...of.querySelectorAll(selector)];

  // Times: in the reader's zone, with UTC in the title. Cells of the fleet show the day.
  const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
  const two = (n) => String(n).padStart(2, "0");
  let year; // of the first time, that of the data
  let inUTC = true; // the reader's zone is UTC, at all times on the page
  for (const time of all("time")) {
    const utc = time.textContent;
    const at = new Date(utc.replace(" ", "T"));
    year ??= at.getFullYear();
    inUTC &&= at.getTimezoneOffset() === 0;
    time.dateTime = utc;
    time.title = utc.replace("Z", " UTC");
    time.textContent = `${at.getDate()} ${months[at.getMonth()]}` +
      (at.getFullYear() === year ? "" : ` ${at.getFullYear()}`) +
      (time.matches("td > time, summary > time") && time.closest(".fleet") ? "" :
        ` ${two(at.getHours())}:${two(at.getMinutes())}`);
  }
  if (!inUTC) {
    document.getElementById("zone").textContent =
      `Times are in ${Intl.DateTimeFormat().resolvedOptions().timeZone}; hover to see UTC.`;
  }

  // Filters.
  const form = document.querySelector("form");
  const groups = all(".fleet tbody").map((body) => ({ head: body.rows[0], rows: [...body.rows].slice(1) }));
  const total = groups.reduce((n, group) => n + group.rows.length, 0);
  const fits = (row, want) => (
    row.cells[0].textContent.toLowerCase().includes(want.get("name").trim().toLowerCase()) &&
    ["workspace", "workload", "type"].every((name) => (
      !want.get(name) || (row.dataset[name] ?? "").split("\n").includes(want.get(name)))) &&
    (!want.get("state") || all("td i", row).some((state) => state.textContent === want.get("state"))) &&
    (!want.get("differs") || "differs" in row.dataset));
  const filter = () => {
    const want = new FormData(form);
    let shown = 0;
    for (const { head, rows } of groups) {
      let some = 0;
      for (const row of rows) {
        row.hidden = !fits(row, want);
        some += row.hidden ? 0 : 1;
      }
      head.hidden = some === 0;
      shown += some;
    }
    form.querySelector("output").textContent = shown === total ? `${total} rows` : `${shown} of ${total} rows`;
  };
  form.addEventListener("input", filter);
  form.addEventListener("reset", () => setTimeout(filter));
  form.addEventListener("submit", (event) => event.preventDefault());
  form.hidden = false;
  filter();

  // Cells: arrow keys move, Escape and a click elsewhere close.
  const fleet = document.querySelector(".fleet");
  const close = (except) => {
    for (const cell of all("details[open]", fleet)) {
      if (!cell.contains(except)) cell.open = false;
    }
  };
  const rows = groups.flatMap((group) => group.rows);
  const steps = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
  fleet.addEventListener("keydown", (event) => {
    const cell = event.target.closest("td");
    const step = steps[event.key];
    if (event.key === "Escape") {
      const open = event.target.closest("details");
      close();
      open?.querySelector("summary").focus();
    } else if (step && cell && event.target.matches("summary")) {
      event.preventDefault();
      let row = rows.indexOf(cell.parentElement);
      let column = cell.cellIndex;
      let next;
      do {
        row += step[0];
        column += step[1];
        next = rows[row]?.cells[column];
      } while (next && (next.parentElement.hidden || !next.querySelector("summary")));
      next?.querySelector("summary").focus();
    }
  });
  document.addEventListener("click", (event) => close(event.target));
}
