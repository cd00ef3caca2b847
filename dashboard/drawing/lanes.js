// Boxes in lanes on a common axis, with strips of percentages above. `data` is from `lanes.draw`.
// A drag sets the trigger `zoomed` to the ends of a range.

const STRIP_PX = 90;
const ONE_OF_SEVERAL_PX = 44;
const FLAT_PX = 22; // on a page with another drawing below
const GAP_PX = 4; // between lanes
const NEAR_PX = 3; // the pointer is on a box at this distance or less
const LEAST_DRAG_PX = 4;
const AT_EDGE = 0.04; // fraction of the width at each end where texts of ticks are moved inwards
const FAINT = 0.2;
const EDGED_PX = 3; // boxes of this width or more have a gap before the next one

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".lanes");
  const shown = JSON.stringify(data);
  if (shown === root.shown) return;
  root.shown = shown;
  root.watcher?.disconnect();

  const canvas = element("canvas");
  canvas.setAttribute("role", "img");
  canvas.ariaLabel = data.alt;
  const hint = element("div", { className: "hint", hidden: true });
  const brush = element("div", { className: "brush", hidden: true });
  const share = (at) => (at - data.since) / (data.until - data.since);
  const marks = data.marks.map((each) => mark(each, share(each.at)));
  const ranges = data.shown ? [highlight(data.shown.map(share))] : [];
  const plot = element("div", { className: "plot" }, [canvas, ...marks, ...ranges, brush, hint]);
  plot.style.height = `${top(data) + data.lanes.length * data.lanePixels}px`;
  plot.classList.toggle("zooms", data.zooms);
  root.style.setProperty("--above", marks.length || data.file ? "1.2rem" : "0");
  root.style.gridTemplateColumns = `${data.sidePixels}px minmax(0, 1fr)`;
  const save = saveButton();
  save.onclick = () => download(root, canvas, data);
  const below = data.ticks.length ? [axis(data, share)] : [];
  root.replaceChildren(names(data), plot, ...below, ...(data.file ? [save] : []));

  root.watcher = new ResizeObserver(([{ contentRect }]) =>
    paint(canvas, data, share, contentRect.width, contentRect.height),
  );
  root.watcher.observe(plot);
  listen(plot, brush, hint, data, (range) => setTriggerValue("zoomed", range));
}

/** Returns the height of a strip in px. */
function tall(data) {
  if (data.strips.length < 2) return STRIP_PX;
  return data.isFlat ? FLAT_PX : ONE_OF_SEVERAL_PX;
}

/** Returns the top of the lanes in px. */
function top(data) {
  return data.strips.length * (tall(data) + GAP_PX);
}

/** Returns the highlight of a range, given as fractions of the width. */
function highlight([from, to]) {
  const made = element("div", { className: "shown" });
  made.style.left = `${100 * from}%`;
  made.style.width = `${100 * (to - from)}%`;
  return made;
}

/** Returns the names of the strips and lanes, at the left. */
function names(data) {
  const lanes = data.lanes.map((lane) => element("span", { textContent: lane, title: lane }));
  for (const lane of lanes) lane.style.height = lane.style.lineHeight = `${data.lanePixels}px`;
  const strips = data.strips.map(({ name }) => percents(data, name));
  return element("div", { className: "names" }, [...strips, ...lanes]);
}

/** Returns a strip's name, or its scale if it has no name. */
function percents(data, name) {
  const texts = name ? ["", name, ""] : ["100%", "50%", "0%"];
  const spans = texts.map((text) => element("span", { textContent: text }));
  const made = element("span", { className: "percent" }, spans);
  made.style.height = `${tall(data)}px`;
  made.style.marginBottom = `${GAP_PX}px`;
  return made;
}

function axis(data, share) {
  const ticks = data.ticks.map((tick) => {
    const made = element("span", { className: "tick", textContent: tick.text });
    made.classList.toggle("first", share(tick.at) < AT_EDGE);
    made.classList.toggle("last", share(tick.at) > 1 - AT_EDGE);
    made.style.left = `${100 * share(tick.at)}%`;
    return made;
  });
  return element("div", { className: "axis" }, [
    element("div", { className: "ticks" }, ticks),
    element("div", { className: "title", textContent: data.title }),
  ]);
}

function mark(each, share) {
  const text = element("span", { textContent: each.text });
  const made = element("div", { className: "mark" }, [text]);
  made.classList.toggle("line", each.isLine);
  made.classList.toggle("last", share > 1 - AT_EDGE);
  made.style.left = `${100 * share}%`;
  return made;
}

function paint(canvas, data, share, width, height) {
  const dots = devicePixelRatio || 1;
  canvas.width = width * dots;
  canvas.height = height * dots;
  const pen = canvas.getContext("2d");
  pen.scale(dots, dots);
  const edge = (at) => Math.round(Math.min(1, Math.max(0, share(at))) * width * dots) / dots;
  const box = (start, end, y, tall, isEdged) => {
    const wide = Math.max(1 / dots, edge(end) - edge(start));
    pen.fillRect(edge(start), y, isEdged && wide >= EDGED_PX ? wide - 1 / dots : wide, tall);
  };
  const { strips, boxes } = data;
  strips.forEach((strip, index) => {
    const lowest = index * (tall(data) + GAP_PX) + tall(data);
    let bottom = lowest;
    strip.start.forEach((start, at) => {
      if (start !== strip.start[at - 1]) bottom = lowest;
      const part = (strip.percent[at] / 100) * tall(data);
      bottom -= part;
      pen.fillStyle = data.palette[strip.colour[at]];
      box(start, strip.end[at], bottom, part, false);
    });
  });
  pen.font = `12px ${getComputedStyle(canvas).fontFamily}`;
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  boxes.start.forEach((start, at) => {
    const y = top(data) + boxes.lane[at] * data.lanePixels;
    pen.fillStyle = data.palette[boxes.colour[at]];
    pen.globalAlpha = boxes.is_faint?.[at] ? FAINT : 1;
    box(start, boxes.end[at], y + GAP_PX / 2, data.lanePixels - GAP_PX, true);
    const label = boxes.label?.[at];
    const [left, right] = [edge(start), edge(boxes.end[at])];
    if (!label || pen.measureText(label).width > right - left) return;
    pen.fillStyle = "#000000";
    pen.fillText(label, (left + right) / 2, y + data.lanePixels / 2 + 1);
  });
}

/** Returns the tooltip at a position: the parts in a bin of a strip, or the top box of a lane. */
function textAt(data, at, y, near) {
  const { strips, boxes } = data;
  const strip = strips[Math.floor(y / (tall(data) + GAP_PX))];
  if (strip) {
    const here = [...strip.start.keys()].filter((i) => strip.start[i] <= at && at < strip.end[i]);
    return here.length ? [strip.when[here[0]], ...here.map((i) => strip.text[i]).reverse()] : [];
  }
  const lane = Math.floor((y - top(data)) / data.lanePixels);
  let found = -1;
  let nearest = near;
  boxes.start.forEach((start, index) => {
    if (boxes.lane[index] !== lane) return;
    const far = Math.max(start - at, at - boxes.end[index], 0);
    if (far <= nearest) [found, nearest] = [index, far]; // the last one covers the others
  });
  if (found < 0) return [];
  const details = Object.entries(data.details)
    .filter(([, names]) => names[found] >= 0)
    .map(([title, names]) => [title, data.hoverNames[names[found]]])
    .filter(([, name], at, all) => all.findIndex((each) => each[1] === name) === at)
    .map(([title, name]) => `${title}: ${name}`);
  return [boxes.text[found], ...details];
}

/** Saves a picture of the chart with its texts and legend. */
function download(root, canvas, data) {
  const dots = devicePixelRatio || 1;
  const whole = root.getBoundingClientRect();
  const legendPx = data.legend.length ? 24 : 0;
  const picture = element("canvas");
  picture.width = whole.width * dots;
  picture.height = (whole.height + legendPx) * dots;
  const pen = picture.getContext("2d");
  const styles = getComputedStyle(root);
  const ink = styles.color;
  pen.scale(dots, dots);
  pen.fillStyle = styles.getPropertyValue("--st-background-color");
  pen.fillRect(0, 0, whole.width, whole.height + legendPx);
  pen.font = `${styles.fontSize} ${styles.fontFamily}`;
  pen.textBaseline = "middle";

  let x = data.sidePixels;
  for (const [label, colour] of data.legend) {
    pen.fillStyle = colour;
    pen.fillRect(x, 6, 10, 10);
    pen.fillStyle = ink;
    pen.fillText(label, x + 15, 12);
    x += pen.measureText(label).width + 35;
  }
  pen.translate(-whole.left, legendPx - whole.top);
  const plot = canvas.getBoundingClientRect();
  pen.drawImage(canvas, plot.left, plot.top, plot.width, plot.height);
  pen.fillStyle = ink;
  for (const each of root.querySelectorAll(".percent > span, .names > span:not(.percent)")) {
    const box = each.getBoundingClientRect();
    pen.save();
    pen.beginPath();
    pen.rect(box.left, box.top, box.width, box.height);
    pen.clip();
    const fits = pen.measureText(each.textContent).width <= box.width;
    pen.textAlign = fits ? "right" : "left";
    pen.fillText(each.textContent, fits ? box.right : box.left, box.top + box.height / 2);
    pen.restore();
  }
  pen.textAlign = "left";
  for (const each of root.querySelectorAll(".tick, .title, .mark > span")) {
    const text = document.createRange();
    text.selectNodeContents(each);
    const box = text.getBoundingClientRect();
    pen.fillText(each.textContent, box.left, box.top + box.height / 2);
  }
  for (const each of root.querySelectorAll(".mark.line")) {
    const box = each.getBoundingClientRect();
    for (let y = box.top; y < box.bottom; y += 7) pen.fillRect(box.left, y, 1, 4);
  }
  savePicture(picture, data.file);
}

function listen(plot, brush, hint, data, onZoom) {
  let from = null; // the start of a drag in px
  const position = (event) => {
    const box = plot.getBoundingClientRect();
    return [Math.min(box.width, Math.max(0, event.clientX - box.left)), event.clientY - box.top, box];
  };
  const value = (x, box) => data.since + (x / box.width) * (data.until - data.since);

  plot.onpointerdown = (event) => {
    if (!data.zooms || event.button !== 0) return;
    plot.setPointerCapture(event.pointerId);
    [from] = position(event);
  };
  plot.onpointermove = (event) => {
    const [x, y, box] = position(event);
    brush.hidden = from === null;
    hint.hidden = from !== null;
    if (from !== null) {
      brush.style.left = `${Math.min(from, x)}px`;
      brush.style.width = `${Math.abs(x - from)}px`;
      return;
    }
    const lines = textAt(data, value(x, box), y, (NEAR_PX / box.width) * (data.until - data.since));
    showHint(hint, plot, event, lines.join("\n"));
  };
  const end = () => {
    from = null;
    brush.hidden = true;
  };
  plot.onpointerup = (event) => {
    const [x, , box] = position(event);
    const began = from;
    end();
    if (began === null || Math.abs(x - began) < LEAST_DRAG_PX) return;
    onZoom([Math.min(began, x), Math.max(began, x)].map((at) => Math.round(value(at, box))));
  };
  plot.onpointercancel = end;
  plot.onpointerleave = () => (hint.hidden = true);
}
