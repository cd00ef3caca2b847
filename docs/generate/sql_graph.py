"""The page `docs/sql_graph.md`: what each relation of the SQL reads."""

from ingest import sql

SHAPES = {"staged": "[({})]", "intermediate": "[{}]", "tables": "[[{}]]", "views": "({})"}


def sql_graph() -> str:
    """Return the page, with a diagram for each topic."""
    reads = {node.name: node.reads for node in sql.nodes("catalog")}
    reads |= {node.name: node.reads for node in sql.nodes("scratch")}
    relations = {
        name: file
        for name, file in sql.files().items()
        if name in reads and (not file.macro or file.kind == "views")
    }
    lines = [
        "# What the SQL reads",
        "",
        "`make docs` generates this page from the files in `ingest/sql`. An arrow points from a "
        "relation to one that reads it. A cylinder is a staged table, which a reader of files "
        "fills. A box is an intermediate relation. A double box is a stored table. A rounded box "
        "is a view, or a macro, which is a view with parameters. A dashed box belongs to another "
        "topic.",
    ]
    for topic in sql.TOPICS:
        own = [name for name, file in sorted(relations.items()) if file.topic == topic.name]
        edges = [(read, name) for name in own for read in reads[name] if read in relations]
        others = sorted({read for read, _ in edges if relations[read].topic != topic.name})
        lines += ["", f"## {topic.title}", "", "```mermaid", "flowchart LR"]
        lines += [f"    {name}{SHAPES[relations[name].kind].format(name)}" for name in own]
        lines += [f"    {name}:::other" for name in others]
        lines += [f"    {read} --> {name}" for read, name in edges]
        lines += ["    classDef other stroke-dasharray: 4", "```"]
    return "\n".join(lines) + "\n"
