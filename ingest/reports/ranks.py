"""What the ranks of a run say about each other: who waits, and who has not come."""

from collections.abc import Sequence
from typing import Any

import duckdb

from ingest.reports import rank_path, rank_views
from ingest.reports.hangs import hang_sentences, mismatch_sentence
from ingest.reports.query import select
from ingest.reports.section import Section
from ingest.reports.straggler import straggler_sentences
from ingest.units import counted, number_ranges

Row = dict[str, Any]

HANG = ("process_group", "collective_seq", "source_rank", "destination_rank")
NO_DUMPS = (
    "The run has no dumps of torch's flight recorder that can be read, so it is unknown whether it "
    "hangs. torch writes them after a timeout; add them with the directory of the run."
)
DEADLOCK = (
    "The ranks wait for each other in different calls: they use their process groups in different "
    "orders."
)


def sections(run_id: str) -> dict[str, Section]:
    """Return the tables about the ranks of a run, by their key in JSON."""
    return {
        "straggler_causes": rank_views.causes(run_id),
        "critical_path": rank_path.stretches(run_id),
        "collectives": rank_views.collectives(run_id),
        "process_groups": rank_views.groups(run_id),
        "clocks": rank_views.clocks(run_id),
        "missing_ranks": Section(
            "Ranks without a dump",
            "flight_positions",
            select(
                "DISTINCT rank, missing_reason",
                "flight_positions",
                {"run_id": run_id, "missing_reason <>": ""},
                order_by="rank",
            ),
            (run_id,),
        ),
        "groups": Section(
            "Position of the ranks in each process group",
            "flight_positions",
            select(
                "process_group, group_description, list(rank ORDER BY rank) AS ranks, "
                "missing_reason, last_enqueued_seq, last_started_seq, last_completed_seq",
                "flight_positions",
                {"run_id": run_id},
                group_by="ALL",
                order_by="process_group, last_enqueued_seq, last_completed_seq, min(rank)",
            ),
            (run_id,),
            note="The number of the last collective that ranks enqueued, started and completed in "
            "each of their groups, by dumps of the flight recorder.",
        ),
        "hangs": Section(
            "Calls that are not done",
            "hangs",
            select(
                "* EXCLUDE (run_id)",
                "hangs",
                {"run_id": run_id},
                order_by="NOT is_origin, created_ns, process_group, collective_seq",
            ),
            (run_id,),
        ),
        "hang_ranks": Section(
            "Ranks in calls that are not done",
            "hang_ranks",
            select(
                "* EXCLUDE (run_id)",
                "hang_ranks",
                {"run_id": run_id},
                order_by="process_group, collective_seq, source_rank, destination_rank, rank",
            ),
            (run_id,),
        ),
        "mismatches": Section(
            "First collective in which ranks differ",
            "flight_mismatches",
            select(
                "* EXCLUDE (run_id)",
                "flight_mismatches",
                {"run_id": run_id},
                order_by="process_group, rank",
            ),
            (run_id,),
        ),
    }


def report(connection: duckdb.DuckDBPyConnection, run_id: str) -> dict[str, Any]:
    """Return the rows of all sections by key, and under `findings` what they mean, in sentences."""
    rows = {key: each.query.rows(connection) for key, each in sections(run_id).items()}
    late = rank_views.stragglers(run_id).rows(connection)
    matching = rank_views.matching(run_id).rows(connection)
    waits = straggler_sentences(late, rows["straggler_causes"], matching)
    if path := rank_path.sentence(rows["critical_path"], matching):
        waits.append(path)
    findings = _findings(connection, run_id, rows)
    if matching:
        # Without dumps, collectives say what they can.
        findings = [*waits, *(each for each in findings if each != NO_DUMPS)]
    straggler = next((row["rank"] for row in late if row["is_straggler"]), None)
    return {
        "run_id": run_id,
        "findings": findings,
        "straggler": straggler,
        "stragglers": late,
        "matching": matching,
        **rows,
    }


def _findings(
    connection: duckdb.DuckDBPyConnection, run_id: str, rows: dict[str, list[Row]]
) -> list[str]:
    [(dumps, calls, unfinished, unknown)] = connection.execute(
        "SELECT count(DISTINCT dumps.rank), count(records.record_id), "
        "count(*) FILTER (WHERE NOT records.is_done), "
        "count(*) FILTER (WHERE NOT records.is_done AND records.collective_seq IS NULL) "
        "FROM flight_dumps AS dumps LEFT JOIN flight_records AS records "
        "ON dumps.run_id = records.run_id AND dumps.rank = records.rank AND records.is_used "
        "WHERE dumps.run_id = $1 AND dumps.is_latest",
        [run_id],
    ).fetchall()
    if not dumps:
        return [NO_DUMPS]
    findings = []
    if rows["hangs"] and not any(hang["is_origin"] for hang in rows["hangs"]):
        findings.append(DEADLOCK)
    for hang in rows["hangs"]:
        mine = [row for row in rows["hang_ranks"] if _is_of(row, hang)]
        findings.append(" ".join(hang_sentences(hang, mine, _of_group(rows, hang))))
    hanging = {row["process_group"] for row in rows["hangs"] if row["mismatch"]}
    for group in dict.fromkeys(row["process_group"] for row in rows["mismatches"]):
        if group not in hanging:
            findings.append(mismatch_sentence(_of_group(rows, {"process_group": group})))
    if not rows["hangs"]:
        findings.insert(0, _without_hang(dumps, calls, unfinished, unknown))
        if missing := [row["rank"] for row in rows["missing_ranks"]]:
            ranks = f"rank{'' if len(missing) == 1 else 's'} {number_ranges(missing)}"
            findings.append(f"Without a dump that can be read: {ranks}.")
    return findings


def _without_hang(dumps: int, calls: int, unfinished: int, unknown: int) -> str:
    where = f"in the dumps of {counted(dumps, 'rank')}"
    if unknown:
        return (
            f"{counted(unknown, 'call')} {where} {'is' if unknown == 1 else 'are'} not done, and "
            "cannot be compared between ranks: dumps of version 1 count point-to-point calls with "
            "the collectives."
        )
    if unfinished:
        return (
            f"No hang: all {counted(calls, 'call')} {where} are done on a rank, so on all. Some "
            "ranks had not noticed it yet."
        )
    return f"No hang: all {counted(calls, 'call')} {where} are done."


def _of_group(rows: dict[str, list[Row]], row: Row) -> Sequence[Row]:
    return [each for each in rows["mismatches"] if each["process_group"] == row["process_group"]]


def _is_of(row: Row, hang: Row) -> bool:
    return all(row[name] == hang[name] for name in HANG)
