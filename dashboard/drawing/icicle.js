// A flame graph: boxes of calls, each below its caller. `data` is from `icicle.draw`. A click sets
// the trigger `picked` to the id of a box.

const LEVEL_PX = 20;
const LEAST_PX = 28; // narrower boxes have no name

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".icicle");
  const shown = JSON.stringify(data);
  if (shown === root.shown) return;
  root.shown = shown;
  root.watcher?.disconnect();
  root.style.height = `${data.levels * LEVEL_PX}px`;
  root.style.setProperty("--ink", data.ink);
  root.style.setProperty("--edge", data.edge);
  const hint = element("div", { className: "hint", hidden: true });
  const texts = new Map();
  const boxes = data.boxes.map((each) => {
    const box = element("button", { className: "box", type: "button", textContent: each.name });
    box.tabIndex = each.level ? -1 : 0;
    box.style.left = `${100 * each.left}%`;
    box.style.width = `${100 * each.width}%`;
    box.style.top = `${LEVEL_PX * each.level}px`;
    box.style.background = each.colour;
    box.onclick = () => setTriggerValue("picked", each.id);
    texts.set(box, each.text);
    return box;
  });
  root.replaceChildren(...boxes, hint);
  root.onpointermove = (event) => showHint(hint, root, event, texts.get(event.target) ?? "");
  root.onpointerleave = () => (hint.hidden = true);
  root.watcher = new ResizeObserver(([{ contentRect }]) => {
    boxes.forEach((box, at) => {
      box.classList.toggle("narrow", data.boxes[at].width * contentRect.width < LEAST_PX);
    });
  });
  root.watcher.observe(root);
}
