"""The work of operators, from formulas that are SQL texts.

This is not a SQL file, because a statement with all formulas takes longer to plan than a run with
few of them takes to compute.
"""

import duckdb

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
        f"SELECT formula, operand, {', '.join(map(_if_required, RESULTS))} FROM {formulas} "
        f"SEMI JOIN {inputs} USING (formula) ORDER BY formula"
    ).fetchall()

    def chosen(column: int) -> str:
        cases = "".join(f" WHEN '{row[0]}' THEN {row[column]}" for row in found if row[column])
        return f"CASE formula{cases} END" if cases else "NULL"

    numbers = ", ".join(
        f"TRY({chosen(column)})::DOUBLE AS {name}" for column, name in enumerate(RESULTS, 2)
    )
    counts = ", ".join(
        f"CASE WHEN {name} >= 0 AND {name} % 1 = 0 THEN try_cast({name} AS BIGINT) END"
        for name in RESULTS
    )
    connection.execute(
        f"INSERT INTO {result} SELECT input_id, {counts}, y[operand] "
        f"FROM (SELECT input_id, y, {chosen(1)} AS operand, {numbers} FROM {inputs})"
    )


def _if_required(result: str) -> str:
    """Return the SQL expression for a formula's text that is null where its condition fails."""
    return (
        f"CASE WHEN requires IS NULL OR {result} IS NULL THEN {result} "
        f"ELSE concat('CASE WHEN ', requires, ' THEN ', {result}, ' END') END"
    )
