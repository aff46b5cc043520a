"use strict";
// Shows the items that match all choices, and the groups with such an item. The choices are in the address, after #. An
// address with the name of an item shows everything, and opens that item.
const selects = Array.from(document.querySelectorAll("select"));
const items = Array.from(document.querySelectorAll(".item"));
const groups = Array.from(document.querySelectorAll(".group"));

function show() {
  // The first option is "any".
  const chosen = selects.filter((select) => select.selectedIndex > 0);
  for (const item of items) {
    item.hidden = chosen.some((select) => !item.dataset[select.name].split("\n").includes(select.value));
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
