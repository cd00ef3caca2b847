// A dense table. A click on a heading sorts, a click on a row ticks it, and long names are cut in
// the middle. Rows with depths are a tree, which folds: each row is below the nearest earlier row with
// a smaller depth. `data` is from `tables.show`. The state `rows` has the indices of the ticked rows.
// A table whose ticks Python controls sets the trigger `ticked` instead.

const CHARACTER_PX = 6.9; // at 13 px
const CODE_PX = 7.3; // of a name in monospace
const PADDING_PX = 17; // of a cell
const BOX_PX = 28; // of a tick box
const SPARK_PX = 80;
const STACK_PX = 160;
const [LEAST_BAR_PX, BAR_PX, LONG_BAR_PX] = [40, 110, 260]; // of a bar next to its number
const [NARROW_PX, WIDE_PX] = [130, 640]; // a text up to the first is never cut; longer ones may be
const ROW_PX = 29; // the height of a row in table.css
const CHUNK = 100; // rows that are drawn at once
const AHEAD_PX = 2_000; // rows are drawn this far below the visible part
const ENDING = 14; // characters at the end of a name that always show
const [INDENT_PX, FOLD_PX] = [14, 18]; // of a level of a tree, and of the button that folds
const OPEN_ROWS = 40; // a tree opens as many levels as have at most this many rows

export default function ({ data, parentElement, setStateValue, setTriggerValue }) {
  const root = parentElement.querySelector(".grid");
  const state = (root.state ??= { by: null, down: true });
  const { ticks, ...rest } = data;
  state.ticks ??= ticks;
  // Keep ticks that Python has not received yet.
  if (data.isControlled && ticks < state.ticks) rest.selected = [...state.ticked];
  const shown = JSON.stringify(rest);
  if (shown === state.shown) return; // a row that is redrawn loses a click
  Object.assign(state, { shown, ticked: new Set(rest.selected) });

  const tree = data.depths && treeOf(data.depths);
  if (tree) state.open ??= firstOpen(tree, data);

  const order = () => {
    const by = data.columns.find((each) => each.name === state.by);
    const sign = state.down ? -1 : 1;
    const known = (value) => value !== null && value !== "";
    const compare = (a, b) => {
      if (!by) return 0;
      const [x, y] = [by.values[a], by.values[b]];
      if (!known(x) || !known(y)) return known(y) - known(x);
      return sign * (x < y ? -1 : x > y ? 1 : 0);
    };
    if (!tree) return [...data.ids.keys()].sort(compare);
    const isOpen = (index) => state.open.has(data.ids[index]);
    const shown = (index) => [index, ...(isOpen(index) ? below(tree.below[index]) : [])];
    const below = (rows) => [...rows].sort(compare).flatMap(shown);
    return below(tree.roots);
  };

  // Opens or folds a row of a tree, with all rows inside it or alone.
  const fold = (index, isAll) => {
    const id = data.ids[index];
    const change = state.open.has(id) ? "delete" : "add";
    const inside = (row) => [row, ...(isAll ? tree.below[row].flatMap(inside) : [])];
    for (const row of inside(index)) state.open[change](data.ids[row]);
    draw();
    root.querySelector(`tr[data-id="${CSS.escape(id)}"]`)?.focus();
  };

  const tick = (index) => {
    const id = data.ids[index];
    const was = state.ticked.has(id);
    if (data.select === "single-row") state.ticked.clear();
    if (was) state.ticked.delete(id);
    else state.ticked.add(id);
    for (const row of root.querySelectorAll("tr.choice")) mark(row, state);
    const ids = data.ids.filter((each) => state.ticked.has(each));
    // The server will answer with this state, unless there is another tick.
    state.shown = JSON.stringify({ ...rest, selected: ids });
    state.ticks += 1;
    if (data.isControlled) setTriggerValue("ticked", { ids, count: state.ticks });
    else setStateValue("rows", ids.map((each) => data.ids.indexOf(each)));
  };

  const sort = (column) => {
    if (state.by !== column.name) Object.assign(state, { by: column.name, down: column.isNumber });
    else if (state.down === column.isNumber) state.down = !state.down;
    else state.by = null;
    draw();
    root.querySelector(`th[data-name="${CSS.escape(column.name)}"]`)?.focus();
  };

  const draw = () => {
    const scrolled = root.firstElementChild?.scrollTop;
    root.replaceChildren(table(data, state, order(), { tick, sort, fold, tree }, scrolled ?? 0));
    if (scrolled) root.firstElementChild.scrollTop = scrolled; // only if needed: it forces a layout
  };

  root.oncopy = copyFullName;
  draw();
  state.watcher ??= new ResizeObserver(([{ contentRect }]) => {
    state.width = contentRect.width;
    state.fit();
  });
  state.watcher.observe(root);
}

/** Returns the indices of the rows without a row around them, and of those right below each row. */
function treeOf(depths) {
  const tree = { roots: [], below: depths.map(() => []), around: depths.map(() => []) };
  const path = [];
  depths.forEach((depth, index) => {
    while (path.length && depths[path.at(-1)] >= depth) path.pop();
    (path.length ? tree.below[path.at(-1)] : tree.roots).push(index);
    tree.around[index] = [...path];
    path.push(index);
  });
  return tree;
}

/** Returns the ids of rows that are open at first: of the upper levels, and around ticked rows. */
function firstOpen(tree, data) {
  if (data.isUnfolded) return new Set(data.ids);
  const open = new Set(data.selected.flatMap((id) => tree.around[data.ids.indexOf(id)]));
  let level = tree.roots;
  for (let rows = level.length; level.length; ) {
    const next = level.flatMap((index) => tree.below[index]);
    rows += next.length;
    if (rows > OPEN_ROWS) break;
    for (const index of level) open.add(index);
    level = next;
  }
  return new Set([...open].map((index) => data.ids[index]));
}

function table(data, state, indices, acts, scrolled) {
  const box = element("div", { className: "grid-box" });
  box.style.maxHeight = data.height;
  const boxes = data.select === "multi-row" ? [element("col")] : [];
  const columns = data.columns.map(() => element("col"));
  const grid = element("table", { ariaRowCount: indices.length }, [
    element("colgroup", {}, [...boxes, ...columns]),
    head(data, state, acts.sort),
  ]);
  for (const each of boxes) each.style.width = `${BOX_PX}px`;
  addRows(box, grid, data, state, indices, acts, scrolled);
  const extents = data.columns.map(extent);
  if (acts.tree) {
    grid.role = "treegrid";
    const indent = FOLD_PX + INDENT_PX * Math.max(...indices.map((index) => data.depths[index]));
    for (const width of ["least", "most", "whole"]) extents[0][width] += indent;
  }
  state.fit = () => {
    const free = state.width - boxes.length * BOX_PX - 2; // less the border
    const widths = fitted(extents, free);
    columns.forEach((each, at) => (each.style.width = `${widths[at]}px`));
    grid.style.width = `${sum(widths) + boxes.length * BOX_PX}px`;
  };
  if (state.width) state.fit();
  box.append(grid);
  return box;
}

/** Returns the least and the most width of a column in px. A greedy one takes the remaining width. */
function extent(each) {
  if (each.kind === "spark") return { least: SPARK_PX, most: SPARK_PX };
  if (each.kind === "stack") return { least: STACK_PX, most: STACK_PX, isGreedy: true };
  const characters = each.texts.reduce((most, text) => Math.max(most, text.length), 0);
  const words = each.heading.split(" ").map((word) => word.length);
  const text = characters * (each.kind === "name" ? CODE_PX : CHARACTER_PX);
  const whole = Math.max(text, CHARACTER_PX * Math.max(...words)) + PADDING_PX;
  if (each.kind === "bar") {
    const isLong = each.colours.length > 0;
    const most = whole + (isLong ? LONG_BAR_PX : BAR_PX);
    return { least: whole + LEAST_BAR_PX, most, isGreedy: isLong && each.values.every((v) => !(v < 0)) };
  }
  if (each.isNumber || whole <= NARROW_PX) return { least: whole, most: whole };
  return { least: NARROW_PX, most: Math.min(whole, WIDE_PX), whole, isLong: true };
}

/** Divides the width among the columns. Bars give way to long texts, so that these are not cut. */
function fitted(extents, width) {
  const widths = extents.map(({ least }) => least);
  const share = (indices, most) => {
    let left = width - sum(widths);
    while (indices.length && left > 1) {
      const each = left / indices.length;
      for (const at of indices) {
        const taken = Math.min(each, most(at) - widths[at]);
        widths[at] += taken;
        left -= taken;
      }
      indices = indices.filter((at) => widths[at] < most(at) - 0.5);
    }
  };
  const those = (is) => [...extents.keys()].filter((at) => is(extents[at]));
  share(those((each) => each.isLong), (at) => extents[at].most);
  share(those((each) => !each.isLong), (at) => extents[at].most);
  share(those((each) => each.isLong), (at) => extents[at].whole);
  share(those((each) => each.isGreedy), () => Infinity);
  return widths;
}

function sum(values) {
  return values.reduce((all, value) => all + value, 0);
}

function head(data, state, sort) {
  const cells = data.columns.map((each) => {
    const cell = element("th", { title: each.help, scope: "col", tabIndex: each.sorts ? 0 : -1 });
    cell.dataset.name = each.name;
    const arrow = state.by !== each.name ? "" : state.down ? " ↓" : " ↑";
    cell.textContent = each.heading + arrow;
    cell.classList.toggle("number", each.isNumber);
    if (arrow) cell.ariaSort = state.down ? "descending" : "ascending";
    cell.classList.toggle("sorts", each.sorts);
    if (each.sorts) pressed(cell, () => sort(each));
    return cell;
  });
  if (data.select === "multi-row") cells.unshift(element("th"));
  return element("thead", {}, [element("tr", {}, cells)]);
}

/** Adds the rows. Rows far below the visible part are drawn on scrolling. */
function addRows(box, grid, data, state, indices, { tick, fold, tree }, scrolled) {
  const scales = data.columns.map(scale);
  const row = (index) => {
    const cells = data.columns.map((each, at) => cell(each, index, scales[at]));
    const made = element("tr", {}, cells);
    if (tree) {
      const count = tree.below[index].length;
      const isOpen = state.open.has(data.ids[index]);
      addFold(made, { depth: data.depths[index], count, isOpen, fold: (isAll) => fold(index, isAll) });
    }
    if (!data.select) return made;
    if (data.select === "multi-row") {
      const box = element("input", { type: "checkbox", tabIndex: -1 });
      made.prepend(element("td", {}, [box]));
    }
    made.tabIndex = index === indices[0] ? 0 : -1; // one stop for Tab; arrow keys move on from it
    made.dataset.id = data.ids[index];
    made.classList.add("choice");
    mark(made, state);
    pressed(made, () => getSelection().isCollapsed && tick(index));
    return made;
  };
  const rows = element("tbody");
  const below = element("tr", { ariaHidden: "true" });
  grid.append(rows, element("tfoot", {}, [below]));
  const drawUntil = (pixels) => {
    while (rows.childElementCount < indices.length) {
      if (rows.childElementCount * ROW_PX > pixels) break;
      const next = rows.childElementCount;
      rows.append(...indices.slice(next, next + CHUNK).map(row));
    }
    below.style.height = `${(indices.length - rows.childElementCount) * ROW_PX}px`;
  };
  rows.onkeydown = (event) => {
    const way = { ArrowDown: "nextElementSibling", ArrowUp: "previousElementSibling" }[event.key];
    const row = event.target.closest("tr.choice");
    const next = way && row?.[way];
    const folded = { ArrowRight: "false", ArrowLeft: "true" }[event.key];
    const folds = folded !== undefined && row?.ariaExpanded === folded;
    if (!next && !folds) return;
    event.preventDefault();
    if (next) next.focus();
    else row.querySelector(".fold").click();
  };
  drawUntil(scrolled + AHEAD_PX);
  box.onscroll = () => drawUntil(box.scrollTop + box.clientHeight + AHEAD_PX);
}

/** Indents the first cell of a tree's row, with a button that opens or folds the rows below. */
function addFold(row, { depth, count, isOpen, fold }) {
  const [cell] = row.children;
  cell.style.paddingLeft = `${INDENT_PX * depth + PADDING_PX / 2 + (count ? 0 : FOLD_PX)}px`;
  row.ariaLevel = depth + 1;
  if (!count) return;
  row.ariaExpanded = String(isOpen);
  const what = `${isOpen ? "Hide" : "Show"} the ${count} inside. Shift-click: all levels.`;
  const button = element("button", { className: "fold", type: "button", title: what, tabIndex: -1 });
  button.textContent = isOpen ? "▾" : "▸";
  button.onclick = (event) => {
    event.stopPropagation();
    fold(event.shiftKey);
  };
  cell.querySelector("code").prepend(button);
}

/** Shows whether a row is ticked. */
function mark(row, state) {
  const ticked = state.ticked.has(row.dataset.id);
  row.ariaSelected = String(ticked);
  const box = row.querySelector("input");
  if (box) box.checked = ticked;
}

/** Returns the least and the greatest value on the scale of a column's bars. */
function scale(each) {
  if (each.kind !== "bar") return [0, 1];
  if (each.isShare) return [0, 100];
  const values = each.values.map((value) => value ?? 0);
  return [Math.min(0, ...values), Math.max(0, ...values, 1e-9)];
}

function cell(each, index, [least, most]) {
  const text = each.texts[index];
  const made = element("td");
  made.classList.toggle("number", each.isNumber);
  made.title = each.titles?.[index] || (each.isNumber ? "" : text);
  if (each.kind === "name") {
    made.classList.add("name");
    const parted = text.length - Math.min(ENDING, text.length >> 1);
    made.append(element("code", {}, [
      element("span", { textContent: text.slice(0, parted) }),
      element("span", { textContent: text.slice(parted) }),
    ]));
  } else if (each.kind === "spark") {
    made.append(spark(each.values[index] ?? []));
  } else if (each.kind === "stack") {
    made.append(stack(each.values[index] ?? []));
  } else {
    made.textContent = text;
    if (each.kind === "bar") {
      const value = each.values[index] ?? 0;
      const bar = element("i");
      bar.style.setProperty("--from", (Math.min(0, value) - least) / (most - least));
      bar.style.setProperty("--share", Math.abs(value) / (most - least));
      if (each.colours.length) bar.style.background = each.colours[index];
      made.classList.add("bar");
      made.style.setProperty("--text", `${barText(each)}px`);
      made.append(bar);
    }
  }
  return made;
}

/** Returns the width of the longest number next to a column's bars, in px. */
function barText(each) {
  each.textPx ??= Math.max(...each.texts.map((text) => text.length)) * CHARACTER_PX + PADDING_PX;
  return each.textPx;
}

/** Returns stacked parts of a total, with tooltips. */
function stack(parts) {
  return element("span", { className: "stack" }, parts.map(([percent, colour, text]) => {
    const part = element("i", { title: text });
    part.style.width = `${percent}%`;
    part.style.background = colour;
    return part;
  }));
}

/** Returns small bars; the highest is as high as the row. */
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

/** Copies the full name if the selection is within a name. */
function copyFullName(event) {
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
