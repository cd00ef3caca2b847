// A dense table: sorts by a click on a heading, ticks rows, and shortens names in their middle.
// `data`: as `tables.show` makes it. State `rows`: the places of the ticked rows; in a table whose
// ticks Python decides, the trigger `ticked`.

const CHARACTER_PX = 6.9; // at 13 px
const CODE_PX = 7.3; // of a name in monospace
const BAR_PX = 56;
const PADDING_PX = 17; // of a cell
const NARROW_PX = 170; // a column of texts up to so wide takes what it needs; others share the rest
const LEAST_PX = 150;
const ROW_PX = 29; // that a row is tall
const CHUNK = 100; // rows that are drawn at once
const AHEAD_PX = 2_000; // so far below what is seen rows are drawn
const ENDING = 14; // characters at the end of a name that always show

export default function ({ data, parentElement, setStateValue, setTriggerValue }) {
  const root = parentElement.querySelector(".grid");
  const state = (root.state ??= { by: null, down: true });
  const { selected, ...rest } = data;
  const shown = JSON.stringify(rest);
  const isTicked = selected.length === state.ticked?.size && selected.every((row) => state.ticked.has(row));
  if (shown === state.shown && isTicked) return; // a row that is drawn anew loses a click
  Object.assign(state, { shown, ticked: new Set(selected) });

  const order = () => {
    const places = data.columns[0].texts.map((_, place) => place);
    const by = data.columns.find((each) => each.name === state.by);
    if (!by) return places;
    const sign = state.down ? -1 : 1;
    const known = (value) => value !== null && value !== "";
    return places.sort((a, b) => {
      const [x, y] = [by.values[a], by.values[b]];
      if (!known(x) || !known(y)) return known(y) - known(x);
      return sign * (x < y ? -1 : x > y ? 1 : 0);
    });
  };

  const tick = (place) => {
    const was = state.ticked.has(place);
    const others = data.select === "single-row" ? [...state.ticked] : [];
    for (const other of others) state.ticked.delete(other);
    if (was) state.ticked.delete(place);
    else state.ticked.add(place);
    for (const row of root.querySelectorAll("tr.choice")) mark(row, state);
    const rows = [...state.ticked].sort((a, b) => a - b);
    if (data.isControlled) setTriggerValue("ticked", rows);
    else setStateValue("rows", rows);
  };

  const sort = (column) => {
    if (state.by !== column.name) Object.assign(state, { by: column.name, down: column.isFigure });
    else if (state.down === column.isFigure) state.down = !state.down;
    else state.by = null;
    draw();
  };

  const draw = () => {
    const scrolled = root.firstElementChild?.scrollTop;
    root.replaceChildren(table(data, state, order(), tick, sort, scrolled ?? 0));
    if (scrolled) root.firstElementChild.scrollTop = scrolled; // it makes the browser lay out the page
  };

  root.oncopy = copyWholeName;
  draw();
}

function table(data, state, places, tick, sort, scrolled) {
  const widths = data.columns.map(width);
  const least = data.columns.reduce((sum, _, at) => sum + (widths[at] ?? LEAST_PX), 0);
  const box = element("div", { className: "grid-box" });
  box.style.maxHeight = data.height;
  const grid = element("table", {}, [
    element("colgroup", {}, [
      ...(data.select === "multi-row" ? [column(28)] : []),
      ...widths.map(column),
    ]),
    head(data, state, sort),
  ]);
  box.onscroll = body(grid, data, state, places, tick, scrolled);
  if (widths.includes(null)) {
    box.style.width = "100%";
    grid.style.minWidth = `${least}px`;
  } else {
    grid.style.width = `${least}px`;
  }
  box.append(grid);
  return box;
}

function column(pixels) {
  const made = element("col");
  if (pixels !== null) made.style.width = `${pixels}px`;
  return made;
}

/** What a column needs; null where it takes what is left. */
function width(each) {
  if (each.width) return each.width;
  const words = each.heading.split(" ").map((word) => word.length);
  const longest = each.texts.reduce((most, text) => Math.max(most, text.length), 0);
  const bar = each.kind === "bar" ? BAR_PX : 0;
  if (each.colours.length || each.kind === "stack") return null; // long bars take what is left
  const character = each.kind === "name" ? CODE_PX : CHARACTER_PX;
  const needed = Math.max(character * longest, CHARACTER_PX * Math.max(...words)) + PADDING_PX + bar;
  if (each.kind === "spark") return 110;
  return each.isFigure || needed <= NARROW_PX ? needed : null;
}

function head(data, state, sort) {
  const cells = data.columns.map((each) => {
    const cell = element("th", { title: each.help, scope: "col", tabIndex: each.sorts ? 0 : -1 });
    const arrow = state.by !== each.name ? "" : state.down ? " ↓" : " ↑";
    cell.textContent = each.heading + arrow;
    cell.classList.toggle("figure", each.isFigure);
    if (arrow) cell.ariaSort = state.down ? "descending" : "ascending";
    cell.classList.toggle("sorts", each.sorts);
    if (each.sorts) pressed(cell, () => sort(each));
    return cell;
  });
  if (data.select === "multi-row") cells.unshift(element("th"));
  return element("thead", {}, [element("tr", {}, cells)]);
}

/** The rows, of which those below are drawn when they are scrolled to; returns what does that. */
function body(grid, data, state, places, tick, scrolled) {
  const scales = data.columns.map(scale);
  const row = (place) => {
    const cells = data.columns.map((each, at) => cell(each, place, scales[at]));
    const made = element("tr", {}, cells);
    if (!data.select) return made;
    if (data.select === "multi-row") {
      const box = element("input", { type: "checkbox", tabIndex: -1 });
      made.prepend(element("td", {}, [box]));
    }
    made.tabIndex = 0;
    made.dataset.place = place;
    made.classList.add("choice");
    mark(made, state);
    pressed(made, () => getSelection().isCollapsed && tick(place));
    return made;
  };
  const rows = element("tbody");
  const below = element("tr");
  grid.append(rows, element("tfoot", {}, [below]));
  const draw = (scrolled) => {
    while (rows.childElementCount < places.length) {
      if (rows.childElementCount * ROW_PX > scrolled + AHEAD_PX) break;
      const next = rows.childElementCount;
      rows.append(...places.slice(next, next + CHUNK).map(row));
    }
    below.style.height = `${(places.length - rows.childElementCount) * ROW_PX}px`;
  };
  draw(scrolled);
  return (event) => draw(event.target.scrollTop);
}

/** Shows whether a row is ticked. */
function mark(row, state) {
  const ticked = state.ticked.has(Number(row.dataset.place));
  row.ariaSelected = String(ticked);
  const box = row.querySelector("input");
  if (box) box.checked = ticked;
}

/** The values at the ends of a column's bars. */
function scale(each) {
  if (each.kind !== "bar") return [0, 1];
  if (each.isShare) return [0, 100];
  const values = each.values.map((value) => value ?? 0);
  return [Math.min(0, ...values), Math.max(0, ...values, 1e-9)];
}

function cell(each, place, [least, most]) {
  const text = each.texts[place];
  const made = element("td");
  made.classList.toggle("figure", each.isFigure);
  made.title = each.titles?.[place] || (each.isFigure ? "" : text);
  if (each.kind === "name") {
    made.classList.add("name");
    const parted = text.length - Math.min(ENDING, text.length >> 1);
    made.append(element("code", {}, [
      element("span", { textContent: text.slice(0, parted) }),
      element("span", { textContent: text.slice(parted) }),
    ]));
  } else if (each.kind === "spark") {
    made.append(spark(each.values[place] ?? []));
  } else if (each.kind === "stack") {
    made.append(stack(each.values[place] ?? []));
  } else {
    made.textContent = text;
    if (each.kind === "bar") {
      const value = each.values[place] ?? 0;
      const bar = element("i");
      bar.style.setProperty("--from", (Math.min(0, value) - least) / (most - least));
      bar.style.setProperty("--share", Math.abs(value) / (most - least));
      if (each.colours.length) bar.style.background = each.colours[place];
      made.classList.toggle("long", each.colours.length > 0);
      made.classList.add("bar");
      made.append(bar);
    }
  }
  return made;
}

/** Parts of a whole beside each other, each with what it is on hover. */
function stack(parts) {
  return element("span", { className: "stack" }, parts.map(([percent, colour, text]) => {
    const part = element("i", { title: text });
    part.style.width = `${percent}%`;
    part.style.background = colour;
    return part;
  }));
}

/** Small bars, the highest as high as the row. */
function spark(values) {
  const made = element("span", { className: "spark" });
  const most = Math.max(...values, 1e-9);
  for (const value of values) {
    const bar = element("i");
    bar.style.height = `${Math.max(4, (100 * value) / most)}%`;
    made.append(bar);
  }
  return made;
}

/** Copies the whole name where the selection is within one. */
function copyWholeName(event) {
  const [from, to] = [getSelection().anchorNode, getSelection().focusNode].map((node) =>
    node?.parentElement?.closest("td.name"),
  );
  if (!from || from !== to) return;
  event.clipboardData.setData("text/plain", from.title);
  event.preventDefault();
}

function pressed(target, act) {
  target.onclick = act;
  target.onkeydown = (event) => {
    if (event.target !== target || (event.key !== "Enter" && event.key !== " ")) return;
    event.preventDefault();
    act();
  };
}

function element(tag, fields = {}, children = []) {
  const made = Object.assign(document.createElement(tag), fields);
  made.append(...children);
  return made;
}
