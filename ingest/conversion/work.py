"""The work of operators, from formulas that are SQL texts.

This is not a SQL file, because a statement with all formulas takes longer to plan than a run with
few of them takes to compute.
"""

import duckdb

from ingest import sql

RESULTS = ("flops", "bytes_read", "bytes_written", "bytes_at_most")


def compute_work(
    connection: duckdb.DuckDBPyConnection, reads: tuple[str, ...], fills: tuple[str, ...]
) -> None:
    """Fill table `fills` from inputs of operators and from formulas, which `reads` names.

    Results are floating-point operations and bytes. They are null if an input is unknown, if
    computing fails, or if the result is no natural number that fits.
    """
    (inputs, formulas), (result,) = reads, fills
    found = connection.sql(
        f"SELECT formula, operand, requires, {', '.join(RESULTS)} FROM {formulas} "
        f"SEMI JOIN {inputs} USING (formula) ORDER BY formula"
    ).fetchall()

    def chosen(column: int, otherwise: str = "NULL") -> str:
        """Return an expression of the texts in a column. Formulas with the same text share it."""
        sharing: dict[str, list[str]] = {}
        for row in found:
            if row[column] is not None:
                sharing.setdefault(str(row[column]), []).append(sql.literal(row[0]))
        cases = "".join(
            f" WHEN formula IN ({', '.join(names)}) THEN {text}" for text, names in sharing.items()
        )
        return f"CASE{cases} ELSE {otherwise} END" if cases else otherwise

    numbers = ", ".join(
        f"TRY(CASE WHEN is_known THEN {chosen(column)} END)::DOUBLE AS {name}"
        for column, name in enumerate(RESULTS, 3)
    )
    counts = ", ".join(
        f"CASE WHEN {name} >= 0 AND {name} % 1 = 0 THEN try_cast({name} AS BIGINT) END"
        for name in RESULTS
    )
    connection.execute("PRAGMA disable_optimizer")  # it takes as long as all else, for few rows
    try:
        connection.execute(
            f"INSERT INTO {result} SELECT input_id, {counts}, y[operand] FROM ("
            f"SELECT input_id, y, operand, {numbers} FROM ("
            f"SELECT *, {chosen(1)} AS operand, TRY({chosen(2, 'TRUE')}) AS is_known "
            f"FROM {inputs}))"
        )
    finally:
        connection.execute("PRAGMA enable_optimizer")
