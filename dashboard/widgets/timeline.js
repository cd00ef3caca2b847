// A strip of how busy a device or host was, and below it lanes of what ran or idled when, on one
// axis of time. `data`: as `timeline_chart.draw` makes it; times are in ns. A drag zooms in: trigger
// `zoomed`, with the ends of the stretch.

const BUSY_PX = 90;
const LANE_PX = 24;
const GAP_PX = 4; // between lanes
const NEAR_PX = 3; // so near to a box the pointer is on it
const LEAST_DRAG_PX = 4;
const AT_EDGE = 0.04; // of the width: a tick so near to an end has its text on the inner side
const FAINT = 0.2;
const EDGED_PX = 3; // boxes at least so wide are set apart from the next one

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".timeline");
  const shown = JSON.stringify(data);
  if (shown === root.shown) return;
  root.shown = shown;
  root.watcher?.disconnect();

  const canvas = element("canvas");
  canvas.setAttribute("role", "img");
  canvas.ariaLabel = "How busy it was, and what ran when, in lanes";
  const hint = element("div", { className: "hint", hidden: true });
  const brush = element("div", { className: "brush", hidden: true });
  const share = (at) => (at - data.since) / (data.until - data.since);
  const marks = data.marks.map((each) => mark(each, share(each.at)));
  const plot = element("div", { className: "plot" }, [canvas, ...marks, brush, hint]);
  plot.style.height = `${BUSY_PX + GAP_PX + data.lanes.length * LANE_PX}px`;
  root.replaceChildren(names(data), plot, axis(data, share));

  root.watcher = new ResizeObserver(([{ contentRect }]) =>
    paint(canvas, data, share, contentRect.width, contentRect.height),
  );
  root.watcher.observe(plot);
  listen(plot, brush, hint, data, (stretch) => setTriggerValue("zoomed", stretch));
}

/** The names of the strip and the lanes, to the left of them. */
function names(data) {
  const busy = element("span", { className: "percent" }, ["100%", "50%", "0%"].map((text) =>
    element("span", { textContent: text }),
  ));
  busy.style.height = `${BUSY_PX}px`;
  busy.style.marginBottom = `${GAP_PX}px`;
  const lanes = data.lanes.map((lane) => element("span", { textContent: lane, title: lane }));
  for (const lane of lanes) lane.style.height = lane.style.lineHeight = `${LANE_PX}px`;
  return element("div", { className: "names" }, [busy, ...lanes]);
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
    element("div", { textContent: data.origin }),
  ]);
}

function mark(each, share) {
  const made = element("div", { className: "mark", textContent: each.text ?? "" });
  made.classList.toggle("edge", each.isEdge);
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
  const box = (from, to, top, tall, isEdged) => {
    const wide = Math.max(1 / dots, edge(to) - edge(from));
    pen.fillRect(edge(from), top, isEdged && wide >= EDGED_PX ? wide - 1 / dots : wide, tall);
  };
  const { busy, items } = data;
  let bottom = BUSY_PX;
  busy.from.forEach((from, at) => {
    if (from !== busy.from[at - 1]) bottom = BUSY_PX;
    const tall = (busy.percent[at] / 100) * BUSY_PX;
    bottom -= tall;
    pen.fillStyle = data.palette[busy.colour[at]];
    box(from, busy.to[at], bottom, tall, false);
  });
  items.from.forEach((from, at) => {
    pen.fillStyle = data.palette[items.colour[at]];
    pen.globalAlpha = items.faint[at] ? FAINT : 1;
    const top = BUSY_PX + GAP_PX + items.lane[at] * LANE_PX;
    box(from, items.to[at], top + GAP_PX / 2, LANE_PX - GAP_PX, true);
  });
}

/** What is at a place: the parts of the strip's stretch, or the topmost box of a lane. */
function textAt(data, time, y, near) {
  const { busy, items } = data;
  if (y < BUSY_PX) {
    const isHere = (_, at) => busy.from[at] <= time && time < busy.to[at];
    return busy.text.filter(isHere).reverse();
  }
  const lane = Math.floor((y - BUSY_PX - GAP_PX) / LANE_PX);
  let found = -1;
  let nearest = near;
  items.from.forEach((from, at) => {
    if (items.lane[at] !== lane) return;
    const far = Math.max(from - time, time - items.to[at], 0);
    if (far <= nearest) [found, nearest] = [at, far]; // the last one is drawn above the others
  });
  if (found < 0) return [];
  const details = Object.entries(items.details)
    .filter(([, places]) => places[found] >= 0)
    .map(([title, places]) => `${title}: ${items.names[places[found]]}`);
  return [items.text[found], ...details];
}

function listen(plot, brush, hint, data, onZoom) {
  let from = null; // where a drag began, px
  const place = (event) => {
    const box = plot.getBoundingClientRect();
    return [Math.min(box.width, Math.max(0, event.clientX - box.left)), event.clientY - box.top, box];
  };
  const time = (x, box) => data.since + (x / box.width) * (data.until - data.since);

  plot.onpointerdown = (event) => {
    if (event.button !== 0) return;
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
    const lines = textAt(data, time(x, box), y, (NEAR_PX / box.width) * (data.until - data.since));
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
    onZoom([Math.min(began, x), Math.max(began, x)].map((at) => Math.round(time(at, box))));
  };
  plot.onpointercancel = end;
  plot.onpointerleave = () => (hint.hidden = true);
}

function element(tag, fields = {}, children = []) {
  const made = Object.assign(document.createElement(tag), fields);
  made.append(...children);
  return made;
}
