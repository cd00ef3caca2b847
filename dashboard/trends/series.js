// The points of a series, with the medians before and after each change point. `data` is from
// `chart.draw`. A click picks the nearest point. Arrow keys and Enter pick a point too. The trigger
// `picked` has its run.

const SIDE_PX = 64; // left of the points; the same width aligns the charts
const RIGHT_PX = 10;
const TOP_PX = 26;
const FOOT_PX = 20;
const LABEL_PX = 9; // from a line to the label of its change
const APART_PX = 6; // between the texts of ticks
// The styles of elements that a picture needs.
const STYLES = ["fill", "stroke", "strokeWidth", "strokeLinecap", "opacity", "visibility"].concat(
  ["textAnchor", "fontFamily", "fontSize", "fontWeight"],
);
const MANY = 60; // points are small if there are more

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".series");
  const shown = JSON.stringify(data);
  if (shown === root.shown) return; // a chart that is redrawn loses a click
  root.shown = shown;
  root.watcher?.disconnect();
  const hint = element("div", { className: "hint", hidden: true });
  const save = element("button", { type: "button", className: "save", textContent: "PNG" });
  save.title = "Save the chart as a picture";
  const chart = drawn("svg", { role: "img", tabindex: 0, height: data.height });
  chart.ariaLabel = data.alt;
  root.replaceChildren(chart, save, hint);
  save.onclick = () => download(chart, data.file);

  let places = []; // of the points, in px
  let near = null; // the index of the point at the pointer
  const mark = drawn("circle", { class: "near", r: 7 });
  const point = (index) => {
    near = index;
    mark.setAttribute("visibility", index === null ? "hidden" : "visible");
    if (index === null) return;
    mark.setAttribute("cx", places[index].x);
    mark.setAttribute("cy", places[index].y);
  };
  const textOf = (index) =>
    [`run: ${data.runs[index]}`]
      .concat(Object.entries(data.details).map(([title, texts]) => `${title}: ${texts[index]}`))
      .join("\n");

  root.watcher = new ResizeObserver(([{ contentRect }]) => {
    places = paint(chart, data, contentRect.width);
    chart.append(mark);
    point(null);
  });
  root.watcher.observe(root);

  chart.onpointermove = (event) => {
    const isHeading = event.target.classList.contains("heading");
    point(isHeading ? null : nearest(places, event.offsetX, event.offsetY));
    showHint(hint, root, event, near === null ? data.series : textOf(near));
  };
  chart.onpointerleave = () => {
    point(null);
    hint.hidden = true;
  };
  chart.onclick = () => near !== null && setTriggerValue("picked", data.runs[near]);
  chart.onkeydown = (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (event.key === "Enter") chart.onclick();
    if (!step) return;
    event.preventDefault();
    point(beside(places, near, step));
    const box = chart.getBoundingClientRect();
    const { x, y } = places[near];
    showHint(hint, root, { clientX: box.left + x, clientY: box.top + y }, textOf(near));
  };
}

/** Returns a new SVG element with these attributes and children. */
function drawn(tag, attributes = {}, children = []) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/** Returns the function from a value on an axis to its place between two positions in px. */
function scale(axis, from, to) {
  const of = axis.is_log ? Math.log : Number;
  const [least, most] = [of(axis.least), of(axis.most)];
  return (value) => from + ((of(value) - least) / (most - least)) * (to - from);
}

/** Returns the index of the nearest point, or null if there is none. */
function nearest(places, x, y) {
  const far = places.map((each) => (each ? Math.hypot(each.x - x, each.y - y) : Infinity));
  const least = far.reduce((found, each) => Math.min(found, each), Infinity);
  return least === Infinity ? null : far.indexOf(least);
}

/** Returns the index of the next point in a direction, or the same index at the end. */
function beside(places, index, step) {
  const order = [...places.keys()].filter((each) => places[each]);
  const at = index === null ? (step > 0 ? -1 : order.length) : order.indexOf(index);
  return order[Math.min(order.length - 1, Math.max(0, at + step))];
}

/** Draws the chart and returns the places of its points. A point without a value is null. */
function paint(chart, data, width) {
  const [right, bottom] = [width - RIGHT_PX, data.height - FOOT_PX];
  const x = scale(data.x, SIDE_PX, right);
  const y = scale(data.y, bottom, TOP_PX);
  const places = data.values.map((value, index) =>
    value === null ? null : { x: x(data.at[index]), y: y(value) },
  );
  const radius = places.length > MANY ? 2.4 : data.isSmall ? 3.1 : 4.3;
  const medians = data.changes.map(({ line, text: label }) => ({
    corners: line.map(([at, value]) => ({ x: x(at), y: y(value) })),
    label,
  }));
  const picked = new Set(data.picked);
  const others = places.filter((each, index) => each && !picked.has(index));
  const diamonds = data.picked.map((index) => places[index]).filter(Boolean);
  const opened = data.opened === null ? [] : [places[data.opened]].filter(Boolean);
  const across = (height) => `M${SIDE_PX} ${height}H${right}`;
  const path = (name, d, fields) => drawn("path", { class: name, d, ...fields });
  const colour = { stroke: data.colours.run };
  chart.setAttribute("width", width);
  chart.replaceChildren(
    text("heading", data.heading, 0, 12),
    ...data.y.ticks.flatMap(([at, label]) => [
      path("grid", across(y(at))),
      text("tick up", label, SIDE_PX - 8, y(at) + 4),
    ]),
    path("axis", across(bottom)),
    ...data.x.ticks.map(([at, label]) => text("tick along", label, x(at), bottom + 15)),
    path("line", lines(places), colour),
    ...medians.map(({ corners }) => path("change", lines(corners))),
    path("dots", dots(others), { ...colour, "stroke-width": 2 * radius }),
    path("diamonds", shapes(diamonds, 2 * radius), { fill: data.colours.picked }),
    ...opened.map((at) => drawn("circle", { class: "opened", cx: at.x, cy: at.y, r: radius + 5 })),
    ...medians.map(({ corners: [, from, to], label }) =>
      text("label", label, from.x, Math.min(from.y, to.y) - LABEL_PX),
    ),
  );
  chart.querySelectorAll(".tick, .label").forEach((each) => keepInside(each, width));
  keepApart(chart.querySelectorAll(".along"), (box) => [box.x, box.x + box.width + APART_PX]);
  keepApart(chart.querySelectorAll(".up"), (box) => [-box.y - box.height, -box.y]);
  return places;
}

function text(name, content, x, y) {
  return drawn("text", { class: name, x, y }, [content]);
}

/** Returns a path through places. A missing place interrupts it. */
function lines(places) {
  return places
    .map((each, index) => each && `${places[index - 1] ? "L" : "M"}${each.x} ${each.y}`)
    .join("");
}

/** Returns a path with a dot at each place: lines without length whose ends are round. */
function dots(places) {
  return places.map(({ x, y }) => `M${x} ${y}h0`).join("");
}

/** Returns a path with a diamond at each place. */
function shapes(places, size) {
  const sides = `l${size} ${size}l${-size} ${size}l${-size} ${-size}z`;
  return places.map(({ x, y }) => `M${x} ${y - size}${sides}`).join("");
}

/** Moves a text into the chart. */
function keepInside(text, width) {
  const { x, width: wide } = text.getBBox();
  text.setAttribute("dx", Math.min(0, width - wide - x));
}

/** Removes texts that overlap the one before. `rangeOf` has the two ends of a text's box in px. */
function keepApart(texts, rangeOf) {
  let end = -Infinity;
  for (const each of texts) {
    const [from, to] = rangeOf(each.getBBox());
    if (from < end) each.remove();
    else end = to;
  }
}

/** Saves a picture of the chart. */
function download(chart, file) {
  const copy = chart.cloneNode(true);
  const copies = copy.querySelectorAll("*");
  chart.querySelectorAll("*").forEach((each, index) => {
    const styles = getComputedStyle(each);
    for (const name of STYLES) copies[index].style[name] = styles[name];
  });
  copy.style.background = getComputedStyle(chart).getPropertyValue("--st-background-color");
  const dots = devicePixelRatio || 1;
  const box = chart.getBoundingClientRect();
  const image = new Image();
  image.onload = () => {
    const picture = element("canvas", { width: box.width * dots, height: box.height * dots });
    picture.getContext("2d").drawImage(image, 0, 0, picture.width, picture.height);
    element("a", { href: picture.toDataURL("image/png"), download: `${file}.png` }).click();
  };
  const written = new XMLSerializer().serializeToString(copy);
  image.src = `data:image/svg+xml,${encodeURIComponent(written)}`;
}
