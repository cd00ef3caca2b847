"""What the SQL files read, and when they are empty, from DuckDB's own parse of them.

A relation is known to be empty where one of the relations it must find a row in is empty. Such a
condition is a nested list: a relation's name, `["any", …]`, `["all", …]`, True or False.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import duckdb

from ingest.sql.loader import SqlFile

Tree = dict[str, Any]
Condition = bool | str | list[Any]


def parse(connection: duckdb.DuckDBPyConnection, query: str) -> Tree:
    """DuckDB's parse tree of a query. Raises ValueError where it is none."""
    (text,) = connection.execute("SELECT json_serialize_sql($1)", [query]).fetchall()[0]
    parsed = json.loads(text)
    if parsed["error"]:
        raise ValueError(f"{parsed['error_message']}: {query[:80]}")
    return dict(parsed["statements"][0]["node"])


class Reader:
    """Reads SQL files, given all files whose objects one of them can refer to."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, files: Mapping[str, SqlFile]) -> None:
        self._files = files
        self._aggregates = {
            name
            for (name,) in connection.execute(
                "SELECT DISTINCT function_name FROM duckdb_functions() "
                "WHERE function_type = 'aggregate'"
            ).fetchall()
        }
        self._trees: dict[str, Tree] = {}
        for file in files.values():
            if file.is_ddl:
                continue
            macro = file.macro
            text = file.body if not macro else macro.body
            if macro and not macro.is_table:
                text = f"SELECT {macro.body}"
            self._trees[file.name] = parse(connection, text)

    def reads(self, name: str) -> set[str]:
        """The names of the relations and macros that an object refers to."""
        if filling := self._files[name].filled_by:
            return set(filling.reads)
        return set(self._names(self._trees[name], frozenset())) if name in self._trees else set()

    def empty_if(self, name: str) -> Condition:
        """The condition under which a relation is known to be empty."""
        if filling := self._files[name].filled_by:
            return ["any", *filling.reads]
        return self._of_query(self._trees[name], {}) if name in self._trees else False

    def _names(self, node: Any, ctes: frozenset[str]) -> Iterator[str]:
        """Names that a part of a tree refers to, other than those of `ctes` in scope."""
        if isinstance(node, list):
            for part in node:
                yield from self._names(part, ctes)
        if not isinstance(node, dict):
            return
        if isinstance(node.get("cte_map"), dict):
            entries = node["cte_map"].get("map") or []
            ctes |= {entry["key"] for entry in entries}
        if node.get("type") == "BASE_TABLE" and node["table_name"] not in ctes:
            yield node["table_name"]
        if node.get("class") == "FUNCTION" and node["function_name"] in self._files:
            yield node["function_name"]
            yield from (name for name in self._passed(node).values() if name not in ctes)
        for part in node.values():
            yield from self._names(part, ctes)

    def _passed(self, call: Tree) -> dict[str, str]:
        """The relations whose names a call passes to a macro, by the macro's parameters."""
        macro = self._files[call["function_name"]].macro
        if not macro:
            return {}
        passed = {}
        for parameter, argument in zip(macro.parameters, call["arguments"], strict=False):
            literal = argument["expression"].get("literal") or {}
            if literal.get("kind") == "STRING" and f"query_table({parameter})" in macro.body:
                passed[parameter] = literal["text"]
        return passed

    def _of_query(self, node: Tree, scope: Mapping[str, Condition]) -> Condition:
        """`scope` has the conditions of CTEs and of a macro's parameters."""
        scope = dict(scope)
        for entry in (node.get("cte_map") or {}).get("map") or []:
            scope[entry["key"]] = self._of_query(entry["value"]["query_node"], scope)
        if node["type"] == "SET_OPERATION_NODE":
            parts = [self._of_query(child, scope) for child in node["children"]]
            if node["setop_type"] == "EXCEPT":
                return parts[0]
            return _any(parts) if node["setop_type"] == "INTERSECT" else _all(parts)
        if node["type"] != "SELECT_NODE":
            return False
        is_grouped = node.get("group_expressions") or node["aggregate_handling"] != (
            "STANDARD_HANDLING"
        )
        if not is_grouped and any(map(self._aggregates_in, node["select_list"])):
            return False  # a total has a row even of nothing
        return _any(
            [
                self._of_table(node["from_table"], scope),
                *self._of_filter(node.get("where_clause"), scope),
            ]
        )

    def _of_table(self, node: Tree, scope: Mapping[str, Condition]) -> Condition:
        if node["type"] == "BASE_TABLE":
            name = node["table_name"]
            return scope.get(name, name)
        if node["type"] == "SUBQUERY":
            return self._of_query(node["subquery"]["node"], scope)
        if node["type"] == "JOIN":
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
            return scope.get(parameter, False)
        if call["function_name"] not in self._files:
            return False
        passed = {
            parameter: scope.get(name, name) for parameter, name in self._passed(call).items()
        }
        return self._of_query(self._trees[call["function_name"]], passed)

    def _of_filter(self, node: Tree | None, scope: Mapping[str, Condition]) -> list[Condition]:
        """Of `EXISTS (…)` and `… IN (…)`, which no row passes if the subquery is empty."""
        if not node:
            return []
        if node.get("type") == "CONJUNCTION_AND":
            return [c for child in node["children"] for c in self._of_filter(child, scope)]
        if node.get("class") == "SUBQUERY" and node["subquery_type"] in ("EXISTS", "ANY"):
            return [self._of_query(node["subquery"]["node"], scope)]
        return []

    def _aggregates_in(self, node: Any) -> bool:
        if isinstance(node, list):
            return any(map(self._aggregates_in, node))
        if not isinstance(node, dict) or node.get("class") in ("SUBQUERY", "WINDOW"):
            return False
        if node.get("class") == "FUNCTION" and node["function_name"] in self._aggregates:
            return True
        return any(map(self._aggregates_in, node.values()))


def _any(conditions: list[Condition]) -> Condition:
    return _joined("any", conditions, True)


def _all(conditions: list[Condition]) -> Condition:
    return _joined("all", conditions, False)


def _joined(word: str, conditions: list[Condition], decides: bool) -> Condition:
    """`any` or `all` of the conditions; the constant `decides` alone makes it that constant."""
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
