// The steps of a run as stacked bars. A click picks a step, and a drag picks a range. Arrow keys
// and Enter pick a step too. `data` is from `step_bars.show`. The trigger `picked` has the numbers
// of the first and the last picked step.

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".steps");
  const shown = JSON.stringify(data);
  if (shown === root.shown) return; // a bar that is redrawn loses a click
  root.shown = shown;
  let from = null; // the index of the bar where a drag began
  let to = null;

  const bars = data.steps.map(bar);
  const mark = () => {
    const [first, last] = [Math.min(from, to), Math.max(from, to)];
    bars.forEach((each, index) => {
      const isIn = from === null ? data.steps[index].isPicked : first <= index && index <= last;
      each.classList.toggle("faint", !isIn);
    });
  };
  const pick = () => {
    const ends = [Math.min(from, to), Math.max(from, to)].map((index) => data.steps[index].number);
    from = null;
    setTriggerValue("picked", ends);
  };
  const indexAt = (event) => {
    const box = plot.getBoundingClientRect();
    const index = Math.floor(((event.clientX - box.left) / box.width) * bars.length);
    return Math.min(bars.length - 1, Math.max(0, index));
  };

  const plot = element("div", { className: "plot" }, bars);
  plot.style.height = `${data.height}px`;
  plot.onpointerdown = (event) => {
    plot.setPointerCapture(event.pointerId);
    from = to = indexAt(event);
    mark();
  };
  plot.onpointermove = (event) => {
    if (from === null) return;
    to = indexAt(event);
    mark();
  };
  plot.onpointerup = () => from !== null && pick();
  plot.onpointercancel = () => {
    from = null;
    mark();
  };
  plot.onkeydown = (event) => {
    const index = bars.indexOf(event.target);
    const way = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (way) bars[index + way]?.focus();
    else if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      from = to = index;
      pick();
    }
  };
  const focused = [...root.querySelectorAll(".bar")].indexOf(root.getRootNode().activeElement);
  mark();
  root.style.width = data.width ?? "100%";
  root.replaceChildren(axis(data), plot, numbers(data));
  bars[focused]?.focus();
}

/** Returns the bar of a step: its parts from the bottom up, with tooltips. */
function bar(step, index) {
  const parts = step.parts.map((part) => {
    const made = element("i", { title: part.text });
    made.style.height = `${(part.percent * step.height) / 100}%`;
    made.style.background = part.colour;
    return made;
  });
  if (step.mark !== null) {
    const mark = element("b", { title: step.text });
    mark.style.bottom = `${step.mark}%`;
    parts.push(mark);
  }
  const made = element("div", { className: "bar", title: step.text, tabIndex: index ? -1 : 0 }, parts);
  made.setAttribute("role", "button");
  made.ariaLabel = step.text;
  return made;
}

function axis(data) {
  const made = element("div", { className: "axis" });
  for (const tick of data.ticks) {
    const label = element("span", { textContent: tick.text });
    label.style.bottom = `${tick.height}%`;
    made.append(label);
  }
  made.hidden = !data.ticks.length;
  return made;
}

/** Returns the numbers of the steps, as many as fit. */
function numbers(data) {
  const widest = Math.max(...data.steps.map((step) => step.name.length));
  const every = Math.ceil((data.steps.length * (widest * 7 + 8)) / 600);
  const made = element("div", { className: "numbers" });
  data.steps.forEach((step, index) =>
    made.append(element("span", { textContent: index % every ? "" : step.name })),
  );
  return made;
}
