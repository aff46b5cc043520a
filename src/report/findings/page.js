"use strict";
// Shows the signatures that fit all choices, and the clusters that have one. The choices stand in the address, behind #.
const selects = Array.from(document.querySelectorAll("select"));
const members = Array.from(document.querySelectorAll(".member"));
const clusters = Array.from(document.querySelectorAll(".cluster"));

function show() {
  // The first option is no choice.
  const chosen = selects.filter((select) => select.selectedIndex > 0);
  for (const member of members) {
    member.hidden = chosen.some((select) => !member.dataset[select.name].split("\n").includes(select.value));
  }
  for (const cluster of clusters) {
    cluster.hidden = !cluster.querySelector(".member:not([hidden])");
  }
  const shown = members.filter((member) => !member.hidden).length;
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
}

for (const select of selects) {
  select.addEventListener("change", () => {
    const chosen = show().map((select) => [select.name, select.value]);
    history.replaceState(null, "", "#" + new URLSearchParams(chosen));
  });
}
addEventListener("hashchange", choose);
choose();
