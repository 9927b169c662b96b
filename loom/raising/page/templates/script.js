"use strict";
// Copy a command.
document.addEventListener("click", async (event) => {
  const button = event.target.closest("button[data-copy]");
  if (!button) return;
  const text = button.parentElement.querySelector("code").textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "copied";
  } catch {
    const range = document.createRange();
    range.selectNodeContents(button.parentElement.querySelector("code"));
    const selection = window.getSelection();
    selection.removeAllRanges();
    selection.addRange(range);
    button.textContent = "selected";
  }
  setTimeout(() => { button.textContent = "copy"; }, 1500);
});
// Tabs: a group shows one of its panels.
for (const group of document.querySelectorAll("[data-tabs]")) {
  const buttons = [...group.querySelectorAll(":scope > .tabs > button")];
  const show = (wanted) => {
    for (const button of buttons) {
      const on = button === wanted;
      button.setAttribute("aria-selected", String(on));
      document.getElementById(button.getAttribute("aria-controls")).hidden = !on;
    }
  };
  for (const button of buttons) button.addEventListener("click", () => show(button));
  if (buttons.length) show(buttons[buttons.length - 1]);
}
// Lines that belong together, in any pane of one group: point at one and the others light up and scroll into view.
for (const group of document.querySelectorAll("[data-aligned]")) {
  const lines = [...group.querySelectorAll("[data-key]")];
  const keysOf = (line) => line.dataset.key.split(" ");
  const light = (line, scroll) => {
    const keys = new Set(keysOf(line));
    const seen = new Set([line.closest(".code")]);
    for (const other of lines) {
      const on = keysOf(other).some((key) => keys.has(key));
      other.classList.toggle("hot", on);
      const pane = other.closest(".code");
      if (on && scroll && !seen.has(pane)) {
        seen.add(pane);
        pane.scrollTop += other.getBoundingClientRect().top - pane.getBoundingClientRect().top - pane.clientHeight / 3;
      }
    }
  };
  group.addEventListener("mouseover", (event) => {
    const line = event.target.closest("[data-key]");
    if (line) light(line, false);
  });
  group.addEventListener("click", (event) => {
    const line = event.target.closest("[data-key]");
    if (line) light(line, true);
  });
}
