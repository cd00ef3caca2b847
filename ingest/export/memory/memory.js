"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  // The dashboard's colours: everyone can tell any two apart, on light and on dark.
  const COLOURS = ["#2A5CD6", "#EB8511", "#4B9958", "#BB340B", "#A15DB9", "#61CCF2", "#6B5478",
    "#868686"];
  const OTHERS = "#C6C6C6";
  const LEFT = 84, RIGHT = 12, TOP = 12, BOTTOM = 34;  // around the chart, px

  const size = (bytes) => {
    if (bytes === null || bytes === undefined) return "–";
    for (const [factor, unit] of [[2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"]]) {
      if (Math.abs(bytes) >= factor) return `${(bytes / factor).toFixed(2)} ${unit}`;
    }
    return `${bytes} B`;
  };
  const count = (number) => number === null ? "–" : number.toLocaleString("en");
  const seconds = (ns) => ns === null ? "" : `${(ns / 1e9).toFixed(6)} s`;
  const percent = (part, whole) => whole ? `${(100 * part / whole).toFixed(1)}%` : "–";

  /** Make an element. Strings become text nodes, never HTML. */
  function make(tag, attributes = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name === "colour") element.style.background = value;
      else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
      else element.setAttribute(name, value);
    }
    element.append(...children);
    return element;
  }

  /** Make a table. Each column is [title, whether it holds numbers]. */
  function table(columns, rows) {
    const cell = (tag) => (value, i) => make(tag, columns[i][1] ? { class: "number" } : {}, value);
    return make("div", { class: "scroll" }, make("table", {},
      make("thead", {}, make("tr", {}, ...columns.map(([title], i) => cell("th")(title, i)))),
      make("tbody", {}, ...rows.map((row) => make("tr", {}, ...row.map(cell("td")))))));
  }

  const metric = (title, value) => make("div", {}, make("span", {}, title), make("b", {}, value));

  function show(device) {
    const main = document.querySelector("main");
    main.replaceChildren(...metrics(device));
    if (device.axes.order) main.append(...chart(device));
    else main.append(make("p", { class: "note" }, "The snapshot has no history, and so no curve."));
    main.append(...tables(device));
    main.querySelector("canvas")?.dispatchEvent(new Event("draw"));
  }

  function metrics(device) {
    const after = device.peak_after === null ? "" : ` after ${seconds(device.peak_after)}`;
    const shown = [
      metric("start", size(device.start)),
      metric(device.actions && device.peak_ordinal >= 0 ? `peak${after}` : "peak",
        size(device.peak)),
      metric("end", size(device.end)),
    ];
    if (device.reserved !== null) {
      shown.push(metric("reserved at the end", size(device.reserved)));
      shown.push(metric("reserved at most", size(device.reserved_peak)));
    }
    if (device.actions) {
      shown.push(metric(`actions of the ${device.origin}`, count(device.actions)));
    }
    return [make("p", { class: "note" }, device.label),
      make("div", { class: "metrics" }, ...shown)];
  }

  function chart(device) {
    let name = device.axes.time && device.axes.time.until > 0 ? "time" : "order";
    let chosen = null;  // index of a moment
    const canvas = make("canvas", { tabindex: "0", role: "img", "aria-label":
      "Memory in use over time, by owner. Arrow keys move between moments." });
    const tip = make("div", { id: "tip", hidden: "" });
    const list = make("div", { id: "moment" });
    const legend = make("ul", { class: "legend" });
    const axis = () => device.axes[name];
    const colour = (band) => axis().names[band] && band < COLOURS.length ? COLOURS[band] : OTHERS;
    const label = (band) => axis().names[band] || "all others";
    const total = (i) => axis().bands.reduce((sum, band) => sum + band[i], 0);
    const when = (i) => axis().ordinals[i] < 0 ? "before the first action" :
      `after action ${count(axis().ordinals[i])}` +
      (axis().after[i] === null ? "" : `, at ${seconds(axis().after[i])}`);

    const frame = () => {
      const { clientWidth: width, clientHeight: height } = canvas;
      const { until, curve } = axis();
      const top = curve.used.concat(curve.reserved || []).reduce((a, b) => Math.max(a, b || 0), 1);
      return {
        width, height,
        x: (position) => LEFT + (until ? position / until : 0) * (width - LEFT - RIGHT),
        y: (bytes) => height - BOTTOM - (bytes / (top * 1.04)) * (height - TOP - BOTTOM),
        position: (x) => (x - LEFT) / (width - LEFT - RIGHT) * until,
        bytes: (y) => (height - BOTTOM - y) / (height - TOP - BOTTOM) * top * 1.04,
        top: top * 1.04,
      };
    };

    function draw() {
      const { width, height, x, y, top } = frame();
      const style = getComputedStyle(document.documentElement);
      const [ink, faint, rule] = ["--ink", "--faint", "--rule"].map((n) => style.getPropertyValue(n));
      const density = window.devicePixelRatio || 1;
      canvas.width = width * density;
      canvas.height = height * density;
      const pen = canvas.getContext("2d");
      pen.scale(density, density);
      pen.font = "12px system-ui, sans-serif";
      const { positions, bands, until, curve } = axis();

      pen.textAlign = "right";
      pen.textBaseline = "middle";
      let step = 2 ** Math.floor(Math.log2(top / 4));
      while (top / step > 7) step *= 2;
      for (let bytes = 0; bytes <= top; bytes += step) {
        pen.fillStyle = rule;
        pen.fillRect(LEFT, Math.round(y(bytes)), width - LEFT - RIGHT, 1);
        pen.fillStyle = faint;
        pen.fillText(size(bytes), LEFT - 8, y(bytes));
      }

      const below = new Array(positions.length).fill(0);
      bands.forEach((held, band) => {
        pen.beginPath();
        const above = below.map((bytes, i) => bytes + held[i]);
        pen.moveTo(x(positions[0]), y(above[0]));
        for (let i = 1; i < positions.length; i++) {
          pen.lineTo(x(positions[i]), y(above[i - 1]));
          pen.lineTo(x(positions[i]), y(above[i]));
        }
        const last = positions.length - 1;
        pen.lineTo(x(until), y(above[last]));
        pen.lineTo(x(until), y(below[last]));
        for (let i = last; i > 0; i--) {
          pen.lineTo(x(positions[i]), y(below[i]));
          pen.lineTo(x(positions[i]), y(below[i - 1]));
        }
        pen.lineTo(x(positions[0]), y(below[0]));
        pen.fillStyle = colour(band);
        pen.fill();
        above.forEach((bytes, i) => { below[i] = bytes; });
      });

      const line = (values, dash, wide) => {
        pen.beginPath();
        pen.setLineDash(dash);
        pen.strokeStyle = ink;
        pen.lineWidth = wide;
        let isFirst = true;
        values.forEach((bytes, i) => {
          if (bytes === null) return;
          if (isFirst) pen.moveTo(x(curve.positions[i]), y(bytes));
          else {
            pen.lineTo(x(curve.positions[i]), y(values[i - 1] ?? bytes));
            pen.lineTo(x(curve.positions[i]), y(bytes));
          }
          isFirst = false;
        });
        pen.lineTo(x(until), y(values[values.length - 1] ?? 0));
        pen.stroke();
        pen.setLineDash([]);
      };
      line(curve.used, [], .6);
      if (curve.reserved) line(curve.reserved, [5, 4], 1.4);

      for (const error of device.errors) {
        const position = name === "time" ? error.after : error.ordinal;
        if (position === null) continue;
        pen.fillStyle = "#BB340B";
        pen.fillRect(x(position) - 1, TOP, 2, height - TOP - BOTTOM);
        pen.textAlign = x(position) > width - 120 ? "right" : "left";
        pen.fillText(" out of memory ", x(position), TOP + 6);
      }
      if (chosen !== null) {
        pen.fillStyle = ink;
        pen.fillRect(x(positions[chosen]), TOP, 1, height - TOP - BOTTOM);
      }
      pen.fillStyle = faint;
      pen.textBaseline = "top";
      for (let i = 0; i <= 5; i++) {
        const position = until * i / 5;
        pen.textAlign = i === 0 ? "left" : i === 5 ? "right" : "center";
        pen.fillText(name === "time" ? `${(position / 1e9).toPrecision(4)} s` :
          `action ${count(Math.round(position))}`, x(position), height - BOTTOM + 8);
      }
    }

    function momentAt(position) {
      const { positions } = axis();
      let low = 0;
      let high = positions.length - 1;
      while (low < high) {
        const middle = Math.ceil((low + high) / 2);
        if (positions[middle] <= position) low = middle; else high = middle - 1;
      }
      return low;
    }

    function bandAt(i, bytes) {
      let below = 0;
      for (let band = 0; band < axis().bands.length; band++) {
        below += axis().bands[band][i];
        if (bytes >= 0 && bytes < below) return band;
      }
      return null;
    }

    function choose(i, band = null) {
      chosen = i;
      const all = total(i);
      const rows = axis().bands.map((held, b) => [b, held[i]]).filter(([, bytes]) => bytes)
        .sort((a, b) => b[1] - a[1]);
      const made = table([["in use", false], ["size", true], ["bytes", true], ["%", true]],
        rows.map(([b, bytes]) => [
          make("span", {}, make("span", { class: "key", colour: colour(b) }), label(b)),
          size(bytes), count(bytes), percent(bytes, all)]));
      rows.forEach(([b], row) => {
        if (b === band) made.querySelectorAll("tbody tr")[row].classList.add("chosen");
      });
      list.replaceChildren(
        make("h2", {}, `In use ${when(i)}: ${size(all)}`), made);
      draw();
    }

    function relabel() {
      const shown = [...axis().names.keys()].filter((band) => axis().bands[band].some(Boolean));
      legend.replaceChildren(...shown.map((band) => make("li", {},
        make("span", { class: "key", colour: colour(band) }), label(band))));
      if (axis().curve.reserved) legend.append(make("li", {}, "- - - reserved"));
    }

    canvas.addEventListener("draw", () => { relabel(); draw(); });
    canvas.addEventListener("mousemove", (event) => {
      const at = frame();
      const i = momentAt(at.position(event.offsetX));
      const band = bandAt(i, at.bytes(event.offsetY));
      const held = band === null ? [] :
        [make("b", {}, label(band)), make("br"), size(axis().bands[band][i]),
          ` (${count(axis().bands[band][i])} bytes) of `];
      tip.replaceChildren(...held, `${size(total(i))} in use`, make("br"), when(i));
      tip.hidden = false;
      const isRight = event.offsetX > at.width / 2;
      tip.style.left = isRight ? "" : `${event.offsetX + 14}px`;
      tip.style.right = isRight ? `${at.width - event.offsetX + 14}px` : "";
      tip.style.top = `${Math.min(event.offsetY + 10, at.height - 90)}px`;
    });
    canvas.addEventListener("mouseleave", () => { tip.hidden = true; });
    canvas.addEventListener("click", (event) => {
      const at = frame();
      const i = momentAt(at.position(event.offsetX));
      choose(i, bandAt(i, at.bytes(event.offsetY)));
    });
    canvas.addEventListener("keydown", (event) => {
      const way = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!way) return;
      event.preventDefault();
      const last = axis().positions.length - 1;
      choose(Math.max(0, Math.min(last, (chosen ?? -1) + way)));
    });
    redraw = draw;

    const axes = ["time", "order"].filter((axisName) => device.axes[axisName]);
    const control = make("p", {}, ...axes.map((axisName) => {
      const radio = make("input", { type: "radio", name: "axis", value: axisName, onchange: () => {
        name = axisName;
        chosen = null;
        list.replaceChildren();
        relabel();
        draw();
      } });
      radio.checked = axisName === name;
      return make("label", {}, radio, axisName === "time" ? " time  " : " order of actions  ");
    }));
    const title = `Memory in use, by ${device.level}. Click to list the owners at a moment.`;
    return [make("h2", {}, title), control,
      make("div", { class: "chart" }, canvas, tip), legend, list];
  }

  function tables(device) {
    const shown = [];
    for (const error of device.errors) {
      const after = error.after === null ? "" : `, after ${seconds(error.after)}`;
      shown.push(
        make("h2", {}, `Out of memory at action ${count(error.ordinal)}${after}`),
        make("p", {}, `${size(error.requested_bytes)} requested by ${error.user_frame}; device free ` +
          `${size(error.device_free_bytes)}; reserved ${size(error.reserved_bytes)} (allocated ` +
          `${size(error.active_bytes)}, free ${size(error.free_bytes)}, largest free block ` +
          `${size(error.largest_free_bytes)})`),
        table([["largest owners", false], ["size", true], ["allocations", true]],
          error.top_owners.map(([name, bytes, allocations]) =>
            [name, size(bytes), count(allocations)])));
    }
    shown.push(make("h2", {}, `Memory in use at the peak, by ${device.level}`));
    shown.push(table(
      [[device.level, false], ["size", true], ["bytes", true], ["allocations", true], ["%", true]],
      device.owners.map((owner) => [
        owner.stacks.length ? make("details", {}, make("summary", {}, owner.name),
          ...owner.stacks.map((stack) => make("div", {},
            `${size(stack.bytes)} in ${count(stack.allocations)} allocations`,
            make("pre", {}, stack.frames.join("\n"))))) : owner.name,
        size(owner.bytes), count(owner.bytes), count(owner.allocations),
        percent(owner.bytes, device.peak)])));
    if (device.fragmentation.length) {
      shown.push(make("h2", {}, "Fragmentation when the snapshot was taken"));
      shown.push(table([["of", false], ["segments", true], ["reserved", true], ["active", true],
        ["inactive", true], ["%", true], ["stranded", true], ["rounding", true],
        ["largest inactive", true]],
      device.fragmentation.map((row) => [
        row.level === "pool" ? `pool ${row.pool}` : "device", count(row.segments), size(row.bytes),
        size(row.active_bytes), size(row.inactive_bytes), percent(row.inactive_bytes, row.bytes),
        size(row.stranded_bytes), size(row.rounding_bytes), size(row.largest_inactive_bytes)])));
      shown.push(make("p", { class: "note" }, "Stranded memory is inactive memory in segments " +
        "that also have active blocks. The allocator cannot return it to the device."));
    }
    if (device.settings.length) {
      shown.push(make("h2", {}, "Allocator settings"));
      shown.push(table([["setting", false], ["value", false]], device.settings));
    }
    return shown;
  }

  let redraw = () => {};
  if (data.devices.length > 1) {
    const select = make("select", { onchange: () => show(data.devices[select.value]) },
      ...data.devices.map((device, i) => make("option", { value: i }, device.label)));
    document.getElementById("choice").append(make("label", {}, "Device ", select));
  }
  window.addEventListener("resize", () => redraw());
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => redraw());
  show(data.devices[0]);
})();
