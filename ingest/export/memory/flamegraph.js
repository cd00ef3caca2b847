"use strict";
(() => {
  const svg = document.documentElement;
  const { total, row, margin, letter } = svg.dataset;
  const width = svg.viewBox.baseVal.width - 2 * margin;
  const status = document.getElementById("status");
  const frames = [...svg.querySelectorAll("g.frame")].map((element) => {
    const title = element.querySelector("title").textContent;
    return {
      element,
      name: title.slice(0, title.lastIndexOf("\n")),
      details: title.slice(title.lastIndexOf("\n") + 1),
      rect: element.querySelector("rect"),
      text: element.querySelector("text"),
      depth: Number(element.dataset.d),
      from: Number(element.dataset.x),
      weight: Number(element.dataset.w),
    };
  });
  const holds = (outer, inner) =>
    outer.from <= inner.from && outer.from + outer.weight >= inner.from + inner.weight;

  function zoom(to) {
    for (const frame of frames) {
      const isOuter = frame.depth < to.depth && holds(frame, to);
      const isInner = frame.depth >= to.depth && holds(to, frame);
      frame.element.classList.toggle("outer", isOuter);
      frame.element.classList.toggle("hidden", !isOuter && !isInner);
      if (!isOuter && !isInner) continue;
      const x = Number(margin) + (isOuter ? 0 : (frame.from - to.from) / to.weight) * width;
      const wide = (isOuter ? 1 : frame.weight / to.weight) * width;
      const letters = Math.floor((wide - 6) / letter);
      frame.rect.setAttribute("x", x.toFixed(2));
      frame.rect.setAttribute("width", wide.toFixed(2));
      frame.text.setAttribute("x", (x + 3).toFixed(2));
      frame.text.textContent =
        letters < 3 ? "" :
        frame.name.length <= letters ? frame.name : frame.name.slice(0, letters - 1) + "…";
    }
  }

  function search(wanted) {
    const text = (wanted || "").toLowerCase();
    const found = text ? frames.filter((f) => f.name.toLowerCase().includes(text)) : [];
    const known = new Set(found);
    for (const frame of frames) frame.element.classList.toggle("found", known.has(frame));
    svg.classList.toggle("searched", Boolean(text));
    if (!text) { status.textContent = ""; return; }
    // A found frame includes the frames inside it: do not count those twice.
    let until = 0;
    let weight = 0;
    for (const frame of found.sort((a, b) => a.from - b.from || a.depth - b.depth)) {
      if (frame.from < until) continue;
      weight += frame.weight;
      until = frame.from + frame.weight;
    }
    status.textContent = `“${wanted}”: ${found.length} found, ` +
      `${weight.toLocaleString("en")} bytes, ${(100 * weight / total).toFixed(2)}%`;
  }

  for (const frame of frames) {
    frame.element.addEventListener("click", () => zoom(frame));
    frame.element.addEventListener("mouseenter", () => {
      status.textContent = `${frame.name}  ${frame.details}`;
    });
  }
  const ask = () => {
    const wanted = window.prompt("Search for a part of a name. Leave empty to clear the search.");
    if (wanted !== null) search(wanted);
  };
  document.getElementById("search").addEventListener("click", ask);
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") { search(""); zoom(frames[0]); }
    if (event.key === "/") { event.preventDefault(); ask(); }
  });
})();
