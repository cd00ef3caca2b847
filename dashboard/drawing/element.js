/** Returns a new element with these fields and children. */
function element(tag, fields = {}, children = []) {
  const made = Object.assign(document.createElement(tag), fields);
  made.append(...children);
  return made;
}
