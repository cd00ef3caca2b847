"""The relations that each SQL file reads, and when its result is empty, from DuckDB's parse trees.

A relation is empty if an input from which it needs a row is empty, or if a filter needs a text that
no row of a staged table has. This condition is a relation's name, `["without", table, column, text,
…]`, `["any", …]`, `["all", …]`, True or False. If the condition is unknown, it is False.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import duckdb

from ingest.sql.loader import SqlFile

Tree = dict[str, Any]
Condition = bool | str | list[Any]


def parse(connection: duckdb.DuckDBPyConnection, query: str) -> Tree:
    """Return DuckDB's parse tree of a query. Raise ValueError if it is not a query."""
    (text,) = connection.execute("SELECT json_serialize_sql($1)", [query]).fetchall()[0]
    parsed = json.loads(text)
    if parsed["error"]:
        raise ValueError(f"{parsed['error_message']}: {query[:80]}")
    return dict(parsed["statements"][0]["node"])


class Reader:
    """An analyser of SQL files. `files` must include every file that one of them refers to."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, files: Mapping[str, SqlFile]) -> None:
        self._files = files
        self._aggregates = _aggregates(connection)
        self._trees: dict[str, Tree] = {}
        for file in files.values():
            if file.is_ddl:
                continue
            macro = file.macro
            text = file.body if not macro else macro.body
            if macro and not macro.is_table:
                text = f"SELECT {macro.body}"
            self._trees[file.name] = tree = parse(connection, text)
            if macro and not macro.is_table and self._aggregates_in(tree["select_list"]):
                self._aggregates.add(file.name)

    def reads(self, name: str) -> set[str]:
        """Return the names of the relations and macros that an object refers to."""
        if filling := self._files[name].filled_by:
            return set(filling.reads)
        return set(self._names(self._trees[name], frozenset())) if name in self._trees else set()

    def empty_if(self, name: str) -> Condition:
        """Return the condition under which a relation is known to be empty."""
        if filling := self._files[name].filled_by:
            return filling.reads[0]  # the step loops over it
        return self._of_query(self._trees[name], {}) if name in self._trees else False

    def _names(self, node: Any, ctes: frozenset[str]) -> Iterator[str]:
        """Yield the names that a part of a tree refers to, except the CTEs in scope."""
        if isinstance(node, list):
            for part in node:
                yield from self._names(part, ctes)
        if not isinstance(node, dict):
            return
        for key, query in _ctes(node):
            is_recursive = query["type"] == "RECURSIVE_CTE_NODE"
            yield from self._names(query, ctes | {key} if is_recursive else ctes)
            ctes |= {key}
        if node.get("type") == "BASE_TABLE" and node["table_name"] not in ctes:
            yield node["table_name"]
        if node.get("class") == "FUNCTION" and node["function_name"] in self._files:
            yield node["function_name"]
            yield from (name for name in self._passed(node).values() if name not in ctes)
        for key, part in node.items():
            if key != "cte_map":
                yield from self._names(part, ctes)

    def _passed(self, call: Tree) -> dict[str, str]:
        """Return the relations whose names a call passes to a macro, by the macro's parameters."""
        macro = self._files[call["function_name"]].macro
        if not macro:
            return {}
        passed = {}
        for position, argument in enumerate(call["arguments"]):
            parameter = argument.get("name") or macro.parameters[position]
            literal = argument["expression"].get("literal") or {}
            if literal.get("kind") == "STRING" and f"query_table({parameter})" in macro.body:
                passed[parameter] = literal["text"]
        return passed

    def _of_query(self, node: Tree, scope: Mapping[str, Condition]) -> Condition:
        """Return the condition under which a query is empty.

        `scope` has the conditions of the CTEs and, prefixed with `$`, of a macro's parameters.
        """
        scope = dict(scope)
        for key, query in _ctes(node):
            scope[key] = self._of_query(query, scope)
        if node["type"] == "SET_OPERATION_NODE":
            parts = [self._of_query(child, scope) for child in node["children"]]
            if node["setop_type"] == "EXCEPT":
                return parts[0]
            return _any(parts) if node["setop_type"] == "INTERSECT" else _all(parts)
        if node["type"] != "SELECT_NODE" or self._may_be_total(node):
            return False
        return _any(
            [
                self._of_table(node["from_table"], scope),
                *self._of_filter(node.get("where_clause"), node["from_table"], scope),
            ]
        )

    def _may_be_total(self, node: Tree) -> bool:
        """Return whether a SELECT may have a row even if its input is empty, as a total does."""
        if node["aggregate_handling"] != "STANDARD_HANDLING":  # GROUP BY ALL
            # A column makes groups. A constant does not, and a star may stand for no column.
            return not any(item["class"] == "COLUMN_REF" for item in node["select_list"])
        if node.get("group_expressions"):
            return [] in node["group_sets"]  # as in ROLLUP
        parts = (node["select_list"], node.get("having"), node.get("qualify"), node["modifiers"])
        return bool(node.get("having")) or any(map(self._aggregates_in, parts))

    def _of_table(self, node: Tree, scope: Mapping[str, Condition]) -> Condition:
        if node["type"] == "BASE_TABLE":
            name = node["table_name"]
            return scope.get(name, name)
        if node["type"] == "SUBQUERY":
            return self._of_query(node["subquery"]["node"], scope)
        if node["type"] == "JOIN":
            if node["ref_type"] == "POSITIONAL":
                return False
            left, right = (self._of_table(node[side], scope) for side in ("left", "right"))
            outer = {"LEFT": left, "ANTI": left, "RIGHT": right, "FULL": _all([left, right])}
            return outer.get(node["join_type"], _any([left, right]))
        if node["type"] == "TABLE_FUNCTION":
            return self._of_call(node["function"], scope)
        return False

    def _of_call(self, call: Tree, scope: Mapping[str, Condition]) -> Condition:
        if call["function_name"] == "query_table":
            (argument,) = call["arguments"]
            (parameter,) = argument["expression"]["column_names"]
            return scope.get(f"${parameter}", False)
        if call["function_name"] not in self._files:
            return False
        passed = {
            f"${parameter}": scope.get(name, name) for parameter, name in self._passed(call).items()
        }
        return self._of_query(self._trees[call["function_name"]], passed)

    def _of_filter(
        self, node: Tree | None, table: Tree, scope: Mapping[str, Condition]
    ) -> list[Condition]:
        """Return the conditions of `EXISTS (…)`, `… IN (…)` and `column = 'text'`.

        No row passes these filters if the subquery is empty, or if no row has one of the texts.
        """
        if not node:
            return []
        if node.get("type") == "CONJUNCTION_AND":
            return [c for child in node["children"] for c in self._of_filter(child, table, scope)]
        if node.get("class") == "SUBQUERY" and node["subquery_type"] in ("EXISTS", "ANY"):
            return [self._of_query(node["subquery"]["node"], scope)]
        if node.get("type") == "COMPARE_EQUAL":
            column, *values = node["left"], node["right"]
        elif node.get("type") == "COMPARE_IN":
            column, *values = node["children"]
        else:
            return []
        literals = [value.get("literal") or {} for value in values]
        origin = self._origin(column, table, scope)
        if origin and all(literal.get("kind") == "STRING" for literal in literals):
            return [["without", *origin, *(literal["text"] for literal in literals)]]
        return []

    def _origin(
        self, expression: Tree, table: Tree, scope: Mapping[str, Condition] | None = None
    ) -> tuple[str, str] | None:
        """Return the staged table and column of an expression over `table`, or None.

        Views may pass the column on without a change.
        """
        if expression.get("class") != "COLUMN_REF":
            return None
        *qualifier, column = expression["column_names"]
        names = [
            base["table_name"]
            for base in _base_tables(table)
            if qualifier in ([], [base["alias"] or base["table_name"]])
        ]
        if len(names) != 1 or names[0] in (scope or {}):
            return None
        (name,) = names
        if not (file := self._files.get(name)):
            return None
        if file.kind == "staged":
            is_text = re.search(rf"\b{column} VARCHAR\b", file.body)
            return (name, column) if is_text else None
        if not (tree := self._trees.get(name)) or tree["type"] != "SELECT_NODE":
            return None
        for selected in tree["select_list"]:
            if (selected["alias"] or selected.get("column_names", [""])[-1]) == column:
                return None if any(_ctes(tree)) else self._origin(selected, tree["from_table"])
        return None

    def _aggregates_in(self, node: Any) -> bool:
        if isinstance(node, list):
            return any(map(self._aggregates_in, node))
        if not isinstance(node, dict) or node.get("class") == "SUBQUERY":
            return False
        if node.get("class") == "FUNCTION" and node["function_name"] in self._aggregates:
            return True
        return any(map(self._aggregates_in, node.values()))


def _ctes(node: Tree) -> Iterator[tuple[str, Tree]]:
    """Yield the CTEs of a query, in order. Each can read those before it."""
    for entry in (node.get("cte_map") or {}).get("map") or []:
        yield entry["key"], entry["value"]["query_node"]


def _base_tables(node: Tree) -> list[Tree]:
    """Return the tables that a FROM clause joins by name; none if it also has other parts."""
    if node["type"] == "BASE_TABLE":
        return [node]
    if node["type"] == "JOIN":
        sides = [_base_tables(node[side]) for side in ("left", "right")]
        return [table for side in sides for table in side] if all(sides) else []
    return []


def _aggregates(connection: duckdb.DuckDBPyConnection) -> set[str]:
    """Return the names of DuckDB's aggregates, and of its macros that expand to one."""
    functions = connection.execute(
        "SELECT DISTINCT function_name, function_type, macro_definition FROM duckdb_functions() "
        "WHERE function_type IN ('aggregate', 'macro')"
    ).fetchall()
    names = {name for name, kind, _ in functions if kind == "aggregate"}
    calls = {name: set(re.findall(r"(\w+)\(", text or "")) for name, _, text in functions}
    return names | {name for name, called in calls.items() if called & names}


def _any(conditions: list[Condition]) -> Condition:
    return _joined("any", conditions, True)


def _all(conditions: list[Condition]) -> Condition:
    return _joined("all", conditions, False)


def _joined(word: str, conditions: list[Condition], decides: bool) -> Condition:
    """Combine conditions with `any` or `all`.

    If one of the conditions is the constant `decides`, the result is that constant.
    """
    parts: list[Condition] = []
    for condition in conditions:
        if condition is decides:
            return decides
        nested = condition[1:] if isinstance(condition, list) and condition[0] == word else None
        for part in nested or [condition]:
            if not isinstance(part, bool) and part not in parts:
                parts.append(part)
    if len(parts) > 1:
        return [word, *parts]
    return parts[0] if parts else not decides
