/** Returns a new element with these fields and children. */
function element(tag, fields = {}, children = []) {
  const made = Object.assign(document.createElement(tag), fields);
  made.append(...children);
  return made;
}

/** Shows a text next to the pointer, within an area that has the hint. An empty text hides it. */
function showHint(hint, area, event, text) {
  const box = area.getBoundingClientRect();
  const [x, y] = [event.clientX - box.left, event.clientY - box.top];
  hint.hidden = !text;
  hint.textContent = text;
  hint.style.left = `${Math.max(0, Math.min(x + 12, box.width - hint.offsetWidth))}px`;
  const isLow = event.clientY + 16 + hint.offsetHeight > innerHeight;
  hint.style.top = `${isLow ? y - 8 - hint.offsetHeight : y + 16}px`;
}

/** Returns the button that saves a chart as a picture. It appears at the pointer. */
function saveButton() {
  const title = "Save the chart as a picture";
  return element("button", { type: "button", className: "save", textContent: "PNG", title });
}

/** Saves a canvas as a PNG file. */
function savePicture(canvas, name) {
  element("a", { href: canvas.toDataURL("image/png"), download: `${name}.png` }).click();
}
