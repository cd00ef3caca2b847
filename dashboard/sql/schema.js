// A list of tables, views and macros, with a search in their names and comments. An entry opens to
// show its comment and columns. `schema.browser` creates `data`.

const NOTHING = "No table, column or text matches. Clear the search.";

export default function ({ data, parentElement }) {
  const root = parentElement.querySelector(".schema");
  if (root.firstChild) return; // keeps entries open that the user opened
  const groups = data.groups.map(({ heading, relations }) => {
    const title = element("h4", { textContent: heading });
    const entries = relations.map((relation) => ({ box: entry(relation), text: searchText(relation) }));
    return { title, entries };
  });
  const nothing = element("p", { className: "nothing", textContent: NOTHING, hidden: true });
  const search = element("input", { type: "search", placeholder: "table, column or text" });
  search.ariaLabel = "Search the schema";
  search.oninput = () => {
    const wanted = plain(search.value).split(" ").filter(Boolean);
    let found = 0;
    for (const { title, entries } of groups) {
      for (const { box, text } of entries) box.hidden = !wanted.every((word) => text.includes(word));
      const matching = entries.filter(({ box }) => !box.hidden).length;
      title.hidden = !matching;
      found += matching;
    }
    nothing.hidden = found > 0;
  };
  const list = element("div", { className: "list" }, [
    ...groups.flatMap(({ title, entries }) => [title, ...entries.map(({ box }) => box)]),
    nothing,
  ]);
  root.append(search, list);
}

function searchText({ name, question, call, comment, columns }) {
  const ofColumns = columns.flatMap((column) => [column.name, column.comment]);
  return [name, question, call, comment, ...ofColumns].map((text) => plain(text ?? "")).join(" ");
}

/** Normalise a text for the search, so that "launch delay" also finds `launch_delay`. */
function plain(text) {
  return text.toLowerCase().replaceAll("_", " ").trim();
}

/** Create the entry of a relation. Its details are created when it is opened. */
function entry(relation) {
  const box = element("details", {}, [element("summary", { textContent: relation.name })]);
  box.ontoggle = () => {
    if (box.childElementCount === 1) box.append(...details(relation));
  };
  return box;
}

function details({ question, call, comment, columns }) {
  const lines = columns.map((column) =>
    element("li", {}, [
      element("code", { textContent: column.name }),
      element("span", { className: "type", textContent: ` ${column.type}` }),
      element("div", {}, prose(column.comment)),
    ]),
  );
  return [
    ...(question ? [element("p", { className: "question", textContent: question })] : []),
    ...(call ? [element("pre", { textContent: call })] : []),
    element("p", {}, prose(comment)),
    ...(lines.length ? [element("ul", {}, lines)] : []),
  ];
}

/** Convert a comment to nodes. Backticks mark code. */
function prose(text) {
  return text.split("`").map((part, at) => (at % 2 ? element("code", { textContent: part }) : part));
}
