// A frame with a page of this server. `data`: address, title, and height in pixels.

export default function ({ data, parentElement }) {
  const root = parentElement.querySelector(".frame");
  if (root.address === data.address) return;
  root.address = data.address;
  root.style.height = `${data.height}px`;
  // Make a new frame, because a new address in a frame adds an entry to the browser's history.
  root.replaceChildren(element("iframe", { src: data.address, title: data.title }));
}
