// Boxes in lanes on one axis, and above them a strip of shares. `data`: as `lanes.draw` makes it.
// A drag zooms in: trigger `zoomed`, with the ends of the stretch.

const STRIP_PX = 90;
const GAP_PX = 4; // between lanes
const NEAR_PX = 3; // so near to a box the pointer is on it
const LEAST_DRAG_PX = 4;
const AT_EDGE = 0.04; // of the width: a tick so near to an end has its text on the inner side
const FAINT = 0.2;
const EDGED_PX = 3; // boxes at least so wide are set apart from the next one

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
  const save = element("button", { type: "button", className: "save", textContent: "PNG" });
  Object.assign(save, { title: "Save the chart as a picture", onclick: () => download(root, canvas, data) });
  const plot = element("div", { className: "plot" }, [canvas, ...marks, brush, hint, save]);
  plot.style.height = `${top(data) + data.lanes.length * data.lanePixels}px`;
  plot.classList.toggle("zooms", data.zooms);
  root.style.gridTemplateColumns = `${data.sidePixels}px minmax(0, 1fr)`;
  root.classList.toggle("marked", marks.length > 0);
  root.replaceChildren(names(data), plot, ...(data.ticks.length ? [axis(data, share)] : []));

  root.watcher = new ResizeObserver(([{ contentRect }]) =>
    paint(canvas, data, share, contentRect.width, contentRect.height),
  );
  root.watcher.observe(plot);
  listen(plot, brush, hint, data, (stretch) => setTriggerValue("zoomed", stretch));
}

/** Where the lanes begin, px. */
function top(data) {
  return data.strip ? STRIP_PX + GAP_PX : 0;
}

/** The names of the strip and the lanes, to the left of them. */
function names(data) {
  const lanes = data.lanes.map((lane) => element("span", { textContent: lane, title: lane }));
  for (const lane of lanes) lane.style.height = lane.style.lineHeight = `${data.lanePixels}px`;
  return element("div", { className: "names" }, [...(data.strip ? [percents()] : []), ...lanes]);
}

function percents() {
  const texts = ["100%", "50%", "0%"].map((text) => element("span", { textContent: text }));
  const made = element("span", { className: "percent" }, texts);
  made.style.height = `${STRIP_PX}px`;
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
  const made = element("div", { className: "mark", textContent: each.text });
  made.classList.toggle("line", each.isLine);
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
  const { strip, boxes } = data;
  let bottom = STRIP_PX;
  strip?.start.forEach((start, at) => {
    if (start !== strip.start[at - 1]) bottom = STRIP_PX;
    const tall = (strip.percent[at] / 100) * STRIP_PX;
    bottom -= tall;
    pen.fillStyle = data.palette[strip.colour[at]];
    box(start, strip.end[at], bottom, tall, false);
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

/** What is at a place: the parts of the strip's stretch, or the topmost box of a lane. */
function textAt(data, at, y, near) {
  const { strip, boxes } = data;
  if (strip && y < STRIP_PX) {
    const isHere = (_, place) => strip.start[place] <= at && at < strip.end[place];
    return strip.text.filter(isHere).reverse();
  }
  const lane = Math.floor((y - top(data)) / data.lanePixels);
  let found = -1;
  let nearest = near;
  boxes.start.forEach((start, place) => {
    if (boxes.lane[place] !== lane) return;
    const far = Math.max(start - at, at - boxes.end[place], 0);
    if (far <= nearest) [found, nearest] = [place, far]; // the last one covers the others
  });
  if (found < 0) return [];
  const details = Object.entries(data.details)
    .filter(([, places]) => places[found] >= 0)
    .map(([title, places]) => `${title}: ${data.names[places[found]]}`);
  return [boxes.text[found], ...details];
}

/** Saves the chart as it is on the screen: the boxes, and the texts around them. */
function download(root, canvas, data) {
  const dots = devicePixelRatio || 1;
  const whole = root.getBoundingClientRect();
  const picture = element("canvas", { width: whole.width * dots, height: whole.height * dots });
  const pen = picture.getContext("2d");
  pen.scale(dots, dots);
  const styles = getComputedStyle(root);
  pen.fillStyle = styles.getPropertyValue("--st-background-color");
  pen.fillRect(0, 0, whole.width, whole.height);
  const plot = canvas.getBoundingClientRect();
  pen.drawImage(canvas, plot.left - whole.left, plot.top - whole.top, plot.width, plot.height);
  pen.font = styles.font;
  pen.fillStyle = pen.strokeStyle = styles.color;
  pen.textBaseline = "middle";
  for (const each of root.querySelectorAll(".percent > span, .names > span, .tick, .title, .mark")) {
    const box = each.getBoundingClientRect();
    const isMark = each.matches(".mark");
    if (each.matches(".line")) pen.fillRect(box.left - whole.left, box.top - whole.top, 1, box.height);
    if (each.childElementCount) continue;
    pen.textAlign = isMark ? "left" : "center";
    const x = isMark ? box.left + 3 : box.left + box.width / 2;
    const y = box.top + (isMark ? 9 : box.height / 2);
    pen.fillText(each.textContent, x - whole.left, y - whole.top, box.width || undefined);
  }
  const link = element("a", { href: picture.toDataURL("image/png"), download: `${data.name}.png` });
  link.click();
}

function listen(plot, brush, hint, data, onZoom) {
  let from = null; // where a drag began, px
  const place = (event) => {
    const box = plot.getBoundingClientRect();
    return [Math.min(box.width, Math.max(0, event.clientX - box.left)), event.clientY - box.top, box];
  };
  const value = (x, box) => data.since + (x / box.width) * (data.until - data.since);

  plot.onpointerdown = (event) => {
    if (!data.zooms || event.button !== 0 || event.target.closest("button")) return;
    plot.setPointerCapture(event.pointerId);
    [from] = place(event);
  };
  plot.onpointermove = (event) => {
    const [x, y, box] = place(event);
    brush.hidden = from === null;
    hint.hidden = from !== null;
    if (from !== null) {
      brush.style.left = `${Math.min(from, x)}px`;
      brush.style.width = `${Math.abs(x - from)}px`;
      return;
    }
    const lines = textAt(data, value(x, box), y, (NEAR_PX / box.width) * (data.until - data.since));
    hint.hidden = !lines.length;
    hint.textContent = lines.join("\n");
    hint.style.left = `${Math.max(0, Math.min(x + 12, box.width - hint.offsetWidth))}px`;
    hint.style.top = `${y + 16}px`;
  };
  const end = () => {
    from = null;
    brush.hidden = true;
  };
  plot.onpointerup = (event) => {
    const [x, , box] = place(event);
    const began = from;
    end();
    if (began === null || Math.abs(x - began) < LEAST_DRAG_PX) return;
    onZoom([Math.min(began, x), Math.max(began, x)].map((at) => Math.round(value(at, box))));
  };
  plot.onpointercancel = end;
  plot.onpointerleave = () => (hint.hidden = true);
}

function element(tag, fields = {}, children = []) {
  const made = Object.assign(document.createElement(tag), fields);
  made.append(...children);
  return made;
}
