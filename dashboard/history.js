// Adds one entry to the browser's history for each action of the user, so that one step back undoes
// one action. On a change of page, Streamlit alone would add up to three: the old page with the new
// parameters, the new page, and the parameters that the new page adds.
if (!window.hasOneEntryPerAction) {
  window.hasOneEntryPerAction = true;
  const push = history.pushState;
  let isNew = false; // whether the user has acted since the last entry
  history.pushState = function (...entry) {
    if (isNew) push.apply(this, entry);
    else this.replaceState(...entry);
    isNew = false;
  };
  for (const action of ["pointerdown", "click", "keydown"]) {
    addEventListener(action, () => (isNew = true), { capture: true });
  }
  addEventListener("popstate", () => (isNew = false), { capture: true });
}
