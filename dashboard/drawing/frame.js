// A page of this server in a frame. `data`: address, title, and height in pixels.

export default function ({ data, parentElement }) {
  const root = parentElement.querySelector(".frame");
  if (root.address === data.address) return;
  root.address = data.address;
  root.style.height = `${data.height}px`;
  // A new frame: a frame that goes to another address adds a step to the browser's history.
  root.replaceChildren(element("iframe", { src: data.address, title: data.title }));
}
