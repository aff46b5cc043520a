"use strict";
// Shows the items that match all choices, and the groups with such an item. The choices are in the address, after #. An
// address with the name of an item shows everything, and opens that item.
const selects = Array.from(document.querySelectorAll("#filter select"));
const items = Array.from(document.querySelectorAll(".item"));
const groups = Array.from(document.querySelectorAll(".group"));

// The matrix: which rows are chosen by their cells, the order of the rows, and the cell that is open.
const matrix = document.getElementById("matrix");
const opened = matrix && JSON.parse(document.getElementById("answers").textContent);
const by = matrix && document.getElementById("choose").elements;
const answer = (row, column) => opened.columns[column].answers[row.cells[column + 1].dataset.a];

function isChosen(row) {
  if (!matrix) return true;
  const column = Number(by.question.value);
  if (by.answer.value && answer(row, column)[0] !== by.answer.value) return false;
  const other = items.find((item) => item.cells[0].firstChild.data === by.unlike.value);
  const columns = by.question.value ? [column] : opened.columns.keys();
  return !other || row === other || Array.from(columns).some((at) => answer(row, at)[0] !== answer(other, at)[0]);
}

function show() {
  // The first option is "any".
  const chosen = selects.filter((select) => select.selectedIndex > 0);
  for (const item of items) {
    item.hidden = chosen.some((select) => !item.dataset[select.name].split("\n").includes(select.value)) || !isChosen(item);
  }
  for (const group of groups) {
    group.hidden = !group.querySelector(".item:not([hidden])");
  }
  const shown = items.filter((item) => !item.hidden).length;
  document.getElementById("shown").textContent = String(shown);
  return chosen;
}

function choose() {
  const chosen = new URLSearchParams(location.hash.slice(1));
  for (const select of selects) {
    const options = Array.from(select.options);
    const index = options.findIndex((option, at) => at > 0 && option.value === chosen.get(select.name));
    select.selectedIndex = Math.max(index, 0);
  }
  show();
  const target = document.getElementById(location.hash.slice(1));
  if (target) {
    target.open = true;
    target.scrollIntoView();
  }
}

for (const select of selects) {
  select.addEventListener("change", () => {
    const chosen = show().map((select) => [select.name, select.value]);
    history.replaceState(null, "", "#" + new URLSearchParams(chosen));
  });
}
addEventListener("hashchange", choose);
choose();

function fill(select, values) {
  select.length = 1;
  for (const [value, text] of values) {
    select.add(new Option(text, value));
  }
}

function openCell(cell) {
  const row = cell.parentElement;
  const at = cell.cellIndex - 1;
  const { title, lines } = opened.columns[at];
  const [word, says, bytes] = answer(row, at);
  const name = row.cells[0].firstChild.data;
  const panel = document.getElementById("cell");
  const line = (text, tag) => {
    const line = document.createElement(tag);
    line.textContent = text;
    return line;
  };
  const breach = cell.dataset.b ? `This breaks its contract: ${cell.dataset.b}.` : "Its contract allows this.";
  const address = (text) => {
    const place = text.match(/docs\/[\w./-]+|https:\/\/[^\s.]\S*[^\s.]/);
    // Of the repository, the page has only the directory reports/matrix/ as its place.
    const root = location.pathname.includes("/reports/matrix/") ? "../../" : null;
    const target = place && (place[0].startsWith("https:") ? place[0] : root && root + place[0]);
    if (!target) return line(text, "p");
    const whole = line(text.slice(0, place.index), "p");
    const link = line(place[0], "a");
    link.href = target;
    whole.append(link, text.slice(place.index + place[0].length));
    return whole;
  };
  panel.replaceChildren(
    line(`${name}, ${title}: ${word}`, "h3"),
    line(`Answer: ${says}`, "p"),
    address(breach),
    line(lines.join("\n"), "pre"),
    line(`utfuzz explain '${bytes}' --decoders ${name}`, "code"),
  );
  for (const one of matrix.querySelectorAll("td[tabindex]")) one.removeAttribute("tabindex");
  cell.tabIndex = 0;
  cell.focus();
}

// Sorts the rows by their names (column -1) or answers, or puts them back where they were.
function sort(column, button) {
  const pressed = button.getAttribute("aria-pressed") === "true";
  for (const one of matrix.querySelectorAll("thead button")) one.setAttribute("aria-pressed", String(!pressed && one === button));
  for (const [row, body] of homes) body.append(row);
  sorted.hidden = pressed;
  if (pressed) return;
  const key = (row) => (column < 0 ? row.cells[0].textContent : answer(row, column)[0]);
  const rows = Array.from(homes.keys(), (row) => [key(row), row]);
  rows.sort(([one], [other]) => (one < other ? -1 : Number(one > other)));
  sorted.append(...rows.map(([, row]) => row));
}

const sorted = document.createElement("tbody");
const homes = new Map(matrix ? items.map((item) => [item, item.parentElement]) : []);
if (matrix) {
  matrix.append(sorted);
  fill(by.question, opened.columns.map(({ title }, at) => [String(at), title]));
  fill(by.unlike, items.map((item) => item.cells[0].firstChild.data).map((name) => [name, name]));
  by.question.addEventListener("change", () => {
    const words = by.question.value ? opened.columns[Number(by.question.value)].answers.map(([word]) => word) : [];
    fill(by.answer, Array.from(new Set(words), (word) => [word, word]));
    by.answer.disabled = words.length === 0;
  });
  for (const select of by) select.addEventListener("change", show);
  matrix.addEventListener("click", (event) => {
    const cell = event.target.closest("td[data-a]");
    if (cell) openCell(cell);
    const button = event.target.closest("thead button");
    if (button) {
      sort(button.parentElement.cellIndex - 1, button);
      show();
    }
  });
  const first = matrix.querySelector("td[data-a]");
  if (first) first.tabIndex = 0;
  matrix.addEventListener("keydown", (event) => {
    const cell = event.target.closest("td[data-a]");
    if (!cell) return;
    const rows = Array.from(matrix.querySelectorAll("tr.item:not([hidden])"));
    const steps = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0], Enter: [0, 0] };
    const step = steps[event.key];
    if (!step) return;
    const row = rows[rows.indexOf(cell.parentElement) + step[0]];
    const next = row && row.cells[cell.cellIndex + step[1]];
    if (next && next.dataset.a) {
      event.preventDefault();
      openCell(next);
    }
  });
}
