// The points of a series, with the medians before and after each change point. `data` is from
// `chart.draw`. A click or a tap picks the nearest point. Arrow keys move from point to point, and
// Enter or Space picks one. The trigger `picked` has its run.

const SIDE_PX = 64; // left of the points; the same width aligns the charts
const RIGHT_PX = 10;
const TOP_PX = 26;
const FOOT_PX = 20;
const SAVE_PX = 44; // right of the heading, for the button
const LABEL_PX = 9; // from a line to the label of its change
const APART_PX = 6; // between the texts of ticks
const MANY = 60; // points are small if there are more
// The styles of elements that a picture needs.
const STYLES = ["fill", "stroke", "strokeWidth", "strokeLinecap", "opacity", "visibility"].concat(
  ["textAnchor", "fontFamily", "fontSize", "fontWeight"],
);
const STEPS = { ArrowLeft: -1, ArrowRight: 1 };
const PICKS = ["Enter", " "];

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".series");
  const sent = JSON.stringify(data);
  if (sent === root.sent) return; // a chart that is redrawn loses a click
  root.sent = sent;
  // The elements stay, so that the chart keeps the keyboard's focus.
  if (!root.firstChild) {
    const hint = element("div", { className: "hint", hidden: true });
    root.append(drawn("svg", { role: "slider", tabindex: 0 }), saveButton(), hint);
  }
  const [chart, save, hint] = root.children;
  root.style.height = `${data.height}px`;
  chart.ariaLabel = data.alt;
  chart.ariaValueMin = 1;
  chart.ariaValueMax = data.runs.length;
  save.onclick = () => download(chart, data);

  let places = []; // of the points, in px
  const mark = drawn("circle", { class: "near", r: 7 });
  const textOf = (index) =>
    [`run: ${data.runs[index]}`]
      .concat(Object.entries(data.details).map(([title, texts]) => `${title}: ${texts[index]}`))
      .join("\n");
  /** Marks a point, or none if the index is -1. */
  const point = (index) => {
    const place = places[index];
    root.run = place && data.runs[index];
    mark.setAttribute("visibility", place ? "visible" : "hidden");
    if (!place) return;
    mark.setAttribute("cx", place.x);
    mark.setAttribute("cy", place.y);
    chart.ariaValueNow = index + 1;
    chart.ariaValueText = textOf(index);
  };
  const hide = () => {
    point(-1);
    hint.hidden = true;
  };
  /** Marks and returns the point nearest to the pointer: -1 on the heading. */
  const pointAt = (event) => {
    const box = chart.getBoundingClientRect();
    const isHeading = event.target.classList.contains("heading");
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const index = isHeading ? -1 : nearest(places, x, y);
    point(index);
    return index;
  };
  const pick = (index) => index >= 0 && setTriggerValue("picked", data.runs[index]);

  root.watcher?.disconnect();
  root.watcher = new ResizeObserver(([{ contentRect }]) => {
    places = paint(chart, data, contentRect.width);
    chart.append(mark);
    if (places[data.runs.indexOf(root.run)]) point(data.runs.indexOf(root.run));
    else hide();
  });
  root.watcher.observe(root);

  chart.onpointermove = (event) => {
    const index = pointAt(event);
    showHint(hint, root, event, index < 0 ? data.series : textOf(index));
  };
  chart.onpointerleave = hide;
  chart.onblur = hide;
  chart.onclick = (event) => pick(pointAt(event));
  chart.onkeydown = (event) => {
    const index = data.runs.indexOf(root.run);
    if (PICKS.includes(event.key)) pick(index);
    else if (STEPS[event.key]) {
      const next = beside(places, index, STEPS[event.key]);
      if (next === undefined) return;
      point(next);
      const box = chart.getBoundingClientRect();
      const at = { clientX: box.left + places[next].x, clientY: box.top + places[next].y };
      showHint(hint, root, at, textOf(next));
    } else return;
    event.preventDefault(); // the page does not scroll
  };
}

/** Returns a new SVG element with these attributes and children. */
function drawn(tag, attributes = {}, children = []) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/** Returns the function from a value of a scale to its place between two positions in px. */
function placer(scale, from, to) {
  const of = scale.isLog ? Math.log : Number;
  const [least, most] = [of(scale.least), of(scale.most)];
  return (value) => from + ((of(value) - least) / (most - least)) * (to - from);
}

/** Returns the index of the nearest point, or -1 if there is none. */
function nearest(places, x, y) {
  const far = places.map((each) => (each ? Math.hypot(each.x - x, each.y - y) : Infinity));
  const least = far.reduce((found, each) => Math.min(found, each), Infinity);
  return least === Infinity ? -1 : far.indexOf(least);
}

/** Returns the index of the next point in a direction: the same at the end, and first an end. */
function beside(places, index, step) {
  const order = [...places.keys()].filter((each) => places[each]);
  const at = index < 0 ? (step > 0 ? -1 : order.length) : order.indexOf(index);
  return order[Math.min(order.length - 1, Math.max(0, at + step))];
}

/** Draws the chart and returns the places of its points. A point without a value is null. */
function paint(chart, data, width) {
  const [right, bottom] = [width - RIGHT_PX, data.height - FOOT_PX];
  const x = placer(data.x, SIDE_PX, right);
  const y = placer(data.y, bottom, TOP_PX);
  const places = data.values.map((value, index) =>
    value === null ? null : { x: x(data.at[index]), y: y(value) },
  );
  const radius = places.length > MANY ? 2.4 : data.isSmall ? 3.1 : 4.3;
  const changes = data.changes.map(({ line, text }) => ({
    corners: line.map(([at, value]) => ({ x: x(at), y: y(value) })),
    text,
  }));
  const picked = new Set(data.picked);
  const others = places.filter((each, index) => each && !picked.has(index));
  const diamonds = data.picked.map((index) => places[index]).filter(Boolean);
  const opened = [places[data.opened]].filter(Boolean);
  const across = (height) => `M${SIDE_PX} ${height}H${right}`;
  const path = (name, d, attributes) => drawn("path", { class: name, d, ...attributes });
  const colour = { stroke: data.colours.run };
  chart.setAttribute("width", width);
  chart.setAttribute("height", data.height);
  chart.replaceChildren(
    label("heading", "", 0, 12),
    ...data.y.ticks.flatMap(([at, text]) => [
      path("grid", across(y(at))),
      label("tick up", text, SIDE_PX - 8, y(at) + 4),
    ]),
    path("axis", across(bottom)),
    ...data.x.ticks.map(([at, text]) => label("tick along", text, x(at), bottom + 15)),
    path("line", lines(places), colour),
    ...changes.map(({ corners }) => path("change", lines(corners))),
    path("dots", dots(others), { ...colour, "stroke-width": 2 * radius }),
    path("diamonds", shapes(diamonds, 2 * radius), { fill: data.colours.picked }),
    ...opened.map((at) => drawn("circle", { class: "opened", cx: at.x, cy: at.y, r: radius + 5 })),
    ...changes.map(({ corners: [, from, to], text }) =>
      label("label", text, from.x, Math.min(from.y, to.y) - LABEL_PX),
    ),
  );
  fit(chart.firstChild, data.series, width - SAVE_PX);
  chart.querySelectorAll(".tick, .label").forEach((each) => keepInside(each, width));
  keepApart(chart.querySelectorAll(".along"), (box) => [box.x, box.x + box.width + APART_PX]);
  keepApart(chart.querySelectorAll(".up"), (box) => [-box.y - box.height, -box.y]);
  return places;
}

function label(name, text, x, y) {
  return drawn("text", { class: name, x, y }, [text]);
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

/** Writes a text into an element. If it is wider than its space, leaves out its middle. */
function fit(label, text, width) {
  const letters = [...text];
  label.textContent = text;
  let kept = Math.min(letters.length, Math.ceil((letters.length * width) / textWidth(label)));
  while (textWidth(label) > width && kept > 2) {
    kept -= 1;
    const [first, last] = [Math.ceil(kept / 2), Math.floor(kept / 2)];
    label.textContent = [...letters.slice(0, first), "…", ...letters.slice(-last)].join("");
  }
}

function textWidth(label) {
  return label.getComputedTextLength();
}

/** Moves a text into the chart. */
function keepInside(label, width) {
  const { x, width: wide } = label.getBBox();
  label.setAttribute("dx", Math.max(-x, Math.min(0, width - wide - x)));
}

/** Removes texts that overlap the one before. `rangeOf` has the two ends of a text's box in px. */
function keepApart(labels, rangeOf) {
  let end = -Infinity;
  for (const each of labels) {
    const [from, to] = rangeOf(each.getBBox());
    if (from < end) each.remove();
    else end = to;
  }
}

/** Saves a picture of the chart. Its heading names the metric, as the page does above the chart. */
function download(chart, data) {
  const { width, height } = chart.getBoundingClientRect();
  const heading = chart.querySelector(".heading");
  fit(heading, data.title, width);
  const copy = chart.cloneNode(true);
  const copies = copy.querySelectorAll("*");
  chart.querySelectorAll("*").forEach((each, index) => {
    const styles = getComputedStyle(each);
    for (const name of STYLES) copies[index].style[name] = styles[name];
  });
  fit(heading, data.series, width - SAVE_PX);
  copy.style.background = getComputedStyle(chart).getPropertyValue("--st-background-color");
  const dots = devicePixelRatio || 1;
  const image = new Image();
  image.onload = () => {
    const picture = element("canvas", { width: width * dots, height: height * dots });
    picture.getContext("2d").drawImage(image, 0, 0, picture.width, picture.height);
    savePicture(picture, data.file);
  };
  const written = new XMLSerializer().serializeToString(copy);
  image.src = `data:image/svg+xml,${encodeURIComponent(written)}`;
}
