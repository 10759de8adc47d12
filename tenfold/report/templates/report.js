"use strict";
for (const box of document.querySelectorAll(".names")) {
  const input = box.querySelector("input"), count = box.querySelector(".control .faint");
  const items = [...box.querySelectorAll("li")].map((item) => [item, item.firstChild.textContent.toLowerCase()]);
  box.querySelector(".control").hidden = false;
  input.addEventListener("input", () => {
    const wanted = input.value.trim().toLowerCase();
    let found = 0;
    for (const [item, name] of items) { item.hidden = !name.includes(wanted); found += item.hidden ? 0 : 1; }
    count.textContent = wanted ? found + " of " + items.length : "";
  });
}
for (const box of document.querySelectorAll(".costs")) {
  const numbers = (name) => box.dataset[name].split(" ").map(Number);
  const at = numbers("at"), misses = numbers("misses"), alarms = numbers("alarms"), rows = Number(box.dataset.rows);
  const svg = box.querySelector("svg"), ends = svg.dataset, input = box.querySelector("input");
  const left = Number(ends.left), right = Number(ends.right), low = Number(ends.low), high = Number(ends.high);
  const rule = svg.querySelector(".rule.best"), line = svg.querySelector(".cost"), label = svg.querySelector(".note");
  const most = Math.max(...at.map((_, k) => (misses[k] + alarms[k]) / rows)) || 1;
  const scale = [...svg.querySelectorAll(".tick.end")].map((text) => [text, Number(text.textContent) / most]);
  box.querySelector(".control").hidden = false;
  input.addEventListener("input", () => {
    const ratio = Math.pow(10, Number(input.value) / 100);
    const cost = at.map((_, k) => (ratio * misses[k] + alarms[k]) / rows), top = Math.max(...cost) || 1, least = Math.min(...cost);
    const best = cost.map((one, k) => [one, k]).filter((one) => one[0] <= least * (1 + 1e-12));
    const chosen = at[best[Math.floor(best.length / 2)][1]], x = left + chosen * (right - left);
    line.setAttribute("d", at.map((one, k) => (k ? "L" : "M") + (left + one * (right - left)).toFixed(1) + "," + (low + cost[k] / top * (high - low)).toFixed(1)).join(" "));
    rule.setAttribute("x1", x); rule.setAttribute("x2", x);
    const late = x > (left + right) / 2;
    label.setAttribute("x", x + (late ? -5 : 5)); label.classList.toggle("end", late);
    for (const [text, share] of scale) text.textContent = String(Number((share * top).toPrecision(2)));
    box.querySelector("output").textContent = ratio >= 10 ? ratio.toFixed(0) : ratio.toPrecision(2);
    box.querySelector("figcaption").textContent = "The best threshold is then " + chosen.toFixed(2) + ": a row costs as much as " + least.toPrecision(3) + " of a false positive, on average.";
  });
}
