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
const nameOf = (row) => row.cells[0].firstChild.data;
const answer = (row, column) => opened.columns[column].answers[row.cells[column + 1].dataset.a];

// The words that are looked for in names, runtimes and lineages.
const wanted = () => by.name.value.toLowerCase().split(/[\s.,:;()-]+/).filter(Boolean);

const textOf = (row) => [nameOf(row), row.dataset.runtime, row.dataset.lineage].join(" ").toLowerCase();
// Words that no decoder has, such as those around the name of a function, choose nothing.
const isKnown = (word) => items.some((item) => textOf(item).includes(word));

function isChosen(row) {
  if (!matrix) return true;
  const column = Number(by.question.value);
  const text = textOf(row);
  if (!words.every((word) => text.includes(word))) return false;
  if (by.answer.value && answer(row, column)[0] !== by.answer.value) return false;
  const other = items.find((item) => nameOf(item) === by.unlike.value);
  const columns = by.question.value ? [column] : opened.columns.keys();
  return !other || row === other || Array.from(columns).some((at) => answer(row, at)[0] !== answer(other, at)[0]);
}

// The words that are looked for, and that some decoder has.
let words = [];

function show() {
  if (matrix) words = wanted().filter(isKnown);
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
  if (matrix) showMatrix();
}

// The column of the question is marked; the cell that can be reached by keyboard is one that is shown.
function showMatrix() {
  tell();
  for (const one of matrix.querySelectorAll(".asked")) one.classList.remove("asked");
  if (by.question.value) {
    const at = Number(by.question.value) + 1;
    for (const item of items) item.cells[at].classList.add("asked");
    const scroller = matrix.parentElement;
    const head = matrix.tHead.rows[1].cells[at];
    scroller.scrollLeft = head.offsetLeft - scroller.clientWidth / 2;
  }
  const current = matrix.querySelector("td[tabindex]");
  if (current && current.parentElement.hidden) closePanel();
  if (!matrix.querySelector("td[tabindex]")) {
    const first = matrix.querySelector("tr.item:not([hidden]) td[data-a]");
    if (first) first.tabIndex = 0;
  }
}

// What the shown decoders answer to the chosen question, in words; without a question, and by name, what they accept too much.
function tell() {
  const shown = items.filter((item) => !item.hidden);
  const [first] = words;
  // Names that begin with what is looked for come first, then those of the current release, which have no version.
  const begins = (item) => Number(!first || !nameOf(item).toLowerCase().startsWith(first));
  const isOld = (item) => Number(/^[a-z_]+[\d.]/.test(nameOf(item)));
  shown.sort((one, other) => begins(one) - begins(other) || isOld(one) - isOld(other));
  const who = new Map();
  const note = (word, name) => who.set(word, (who.get(word) ?? []).concat(name));
  const column = by.question.value && opened.columns[Number(by.question.value)];
  for (const item of shown) {
    const { beyond } = item.dataset;
    if (column) {
      const [word] = answer(item, Number(by.question.value));
      const mark = item.cells[Number(by.question.value) + 1].dataset.b ? "!" : "";
      note(word, nameOf(item) + mark);
    }
    if (first && beyond) {
      note(`shortest string accepted that strict UTF-8 rejects: ${beyond}`, nameOf(item));
    }
  }
  const unknown = matrix ? wanted().filter((word) => !isKnown(word)) : [];
  if (unknown.length > 0) note("no decoder has these words, so they choose nothing", unknown);
  if (shown.length === 0) note("nothing is shown", ["no decoder has these words in its name, runtime or lineage, and fits the choices"]);
  const lines = Array.from(who).sort(([, one], [, other]) => other.length - one.length);
  const said = document.getElementById("said");
  said.replaceChildren(...lines.map(([word, names]) => listed(word, names)));
  document.getElementById("asked").textContent = column ? `${column.title} (${column.bytes}):` : "";
  if (column) said.append(...seeAlso(column));
}

// A line with the questions about the same bytes in other places.
function seeAlso(column) {
  const isAlike = ({ bytes }) => bytes !== column.bytes && (` ${bytes} `.includes(` ${column.bytes} `) || ` ${column.bytes} `.includes(` ${bytes} `));
  const alike = Array.from(opened.columns.entries()).filter(([, other]) => isAlike(other));
  if (alike.length === 0) return [];
  const line = document.createElement("li");
  line.append("See also: ");
  for (const [at, { title, bytes }] of alike) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = `${title} (${bytes})`;
    button.addEventListener("click", () => {
      by.question.value = String(at);
      by.question.dispatchEvent(new Event("change"));
    });
    line.append(button, " ");
  }
  return [line];
}

// A line of that list; many names are folded.
function listed(word, names) {
  const most = 6;
  const element = (tag, ...parts) => {
    const element = document.createElement(tag);
    element.append(...parts);
    return element;
  };
  const bold = element("b", word);
  if (names.length <= most) return element("li", bold, ": ", names.join(", "));
  const summary = element("summary", bold, `: ${names.slice(0, most).join(", ")} and ${names.length - most} more`);
  return element("li", element("details", summary, names.slice(most).join(", ")));
}

function closePanel() {
  for (const one of matrix.querySelectorAll("td[tabindex]")) one.removeAttribute("tabindex");
  document.getElementById("cell").replaceChildren();
}

const fields = () => (matrix ? selects.concat(Array.from(by).filter((field) => field.name)) : selects);

function remember() {
  const chosen = fields().filter((field) => field.value && (field.selectedIndex ?? 1) > 0);
  history.replaceState(null, "", "#" + new URLSearchParams(chosen.map((field) => [field.name, field.value])));
}

function choose() {
  const chosen = new URLSearchParams(location.hash.slice(1));
  for (const field of fields()) {
    if (field.options) {
      const index = Array.from(field.options).findIndex((option, at) => at > 0 && option.value === chosen.get(field.name));
      field.selectedIndex = Math.max(index, 0);
    } else {
      field.value = chosen.get(field.name) ?? "";
    }
    // The possible answers depend on the question.
    if (matrix && field === by.question) offerAnswers();
  }
  show();
  const target = document.getElementById(location.hash.slice(1));
  if (target) {
    target.open = true;
    target.scrollIntoView();
  }
}

function fill(select, values) {
  select.length = 1;
  for (const [value, text] of values) {
    select.add(new Option(text, value));
  }
}

function offerAnswers() {
  const offered = by.question.value ? opened.columns[Number(by.question.value)].answers.map(([word]) => word) : [];
  fill(by.answer, Array.from(new Set(offered), (word) => [word, word]));
  by.answer.disabled = offered.length === 0;
}

function openCell(cell) {
  const row = cell.parentElement;
  const at = cell.cellIndex - 1;
  const { title, bytes: input, lines } = opened.columns[at];
  const [word, says, bytes] = answer(row, at);
  const name = nameOf(row);
  const panel = document.getElementById("cell");
  const line = (text, tag) => {
    const line = document.createElement(tag);
    line.textContent = text;
    return line;
  };
  const claim = row.dataset.claim;
  const isDocumented = !claim.endsWith(" undocumented");
  const kept = isDocumented
    ? `This does not break the contract that it claims: ${claim}.`
    : "Its documentation promises nothing, so this breaks no promise.";
  const demanded = isDocumented ? `the contract that it claims, ${claim}` : "what every decoder must keep";
  const breach = cell.dataset.b ? `This breaks ${demanded}: ${cell.dataset.b}.` : kept;
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
  const { beyond } = row.dataset;
  const button = line("close", "button");
  button.addEventListener("click", () => {
    panel.replaceChildren();
    cell.focus();
  });
  panel.replaceChildren(
    button,
    line(name, "h3"),
    line(`${title} (${input}): ${word}`, "p"),
    line(`The answer in full: ${says}`, "p"),
    ...(beyond ? [line(`The shortest string that it accepts and strict UTF-8 rejects: ${beyond}.`, "p")] : []),
    address(breach),
    line("The input, as strict UTF-8 reads it:", "p"),
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
  for (const [at, { title, bytes }] of opened.columns.entries()) {
    const [, heading, what] = title.match(/^(.*?): (.*)$/);
    if (by.question.lastChild.label !== heading) {
      by.question.append(Object.assign(document.createElement("optgroup"), { label: heading }));
    }
    by.question.lastChild.append(new Option(`${what}, ${heading} (${bytes})`, String(at)));
  }
  fill(by.unlike, items.map(nameOf).map((name) => [name, name]));
  by.question.addEventListener("change", offerAnswers);
  // On a phone the answers would be below the edge of the screen.
  by.question.addEventListener("change", () => setTimeout(() => document.getElementById("asked").scrollIntoView({ block: "nearest" })));
  document.getElementById("choose").addEventListener("submit", (event) => event.preventDefault());
  document.getElementById("all").addEventListener("click", () => {
    history.replaceState(null, "", location.pathname + location.search);
    choose();
    matrix.parentElement.scrollTo(0, 0);
  });
  matrix.addEventListener("click", (event) => {
    const cell = event.target.closest("td[data-a]");
    if (cell) openCell(cell);
    const button = event.target.closest("thead button");
    if (button) {
      sort(button.parentElement.cellIndex - 1, button);
      show();
    }
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") document.querySelector("#cell button")?.click();
  });
  matrix.addEventListener("keydown", (event) => {
    const rows = Array.from(matrix.querySelectorAll("tr.item:not([hidden])"));
    const steps = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0], Enter: [0, 0] };
    const ends = { Home: 1, End: opened.columns.length };
    const [down, right] = steps[event.key] ?? [0, 0];
    const head = event.target.closest("thead button");
    if (head && right !== 0) {
      const next = head.parentElement.parentElement.cells[head.parentElement.cellIndex + right];
      const button = next && next.querySelector("button");
      if (button) {
        event.preventDefault();
        head.tabIndex = -1;
        button.tabIndex = 0;
        button.focus();
      }
    }
    const cell = event.target.closest("td[data-a]");
    if (!cell || !(event.key in steps || event.key in ends)) return;
    const row = rows[rows.indexOf(cell.parentElement) + down];
    const next = row && row.cells[ends[event.key] ?? cell.cellIndex + right];
    if (next && next.dataset.a) {
      event.preventDefault();
      openCell(next);
    }
  });
}
for (const field of fields()) {
  field.addEventListener(field.options ? "change" : "input", () => {
    show();
    remember();
  });
}
addEventListener("hashchange", choose);
choose();
