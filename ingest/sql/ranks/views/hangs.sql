-- Calls that were not done when the dumps of the flight recorder were written, with the ranks that
-- wait and those that have not come. After a timeout, such a call hangs. Dumps of a job that runs
-- show the calls that happen to be in progress.
-- Start here: Which rank makes the others hang?
-- One row: the first collective of a process group that is not done; or two ranks whose
-- point-to-point call is not done.
--
-- run_id, process_group, group_description
-- collective_seq     number of the collective in the group; null for point-to-point calls
-- source_rank, destination_rank
-- kind               kind of the call
-- input_sizes        shapes of the inputs on the waiting rank that enqueued it first
-- caller_frame       innermost line of the user's code around the call on that rank; null if not
--                    recorded
-- created_ns         Unix time at which that rank enqueued it, ns
-- waiting_ranks      ranks that wait
-- absent_ranks       ranks that have a dump and have not enqueued the call
-- missing_ranks      ranks of the group without a dump that can be read
-- passed_ranks       ranks on which the call is done
-- is_timed_out       whether the call timed out on a rank
-- mismatch           kind, shape or dtype, if ranks differ in it in this collective or an earlier
--                    one (`flight_mismatches`); null if they do not
-- is_origin          whether the cause is here: a rank is missing, or a rank is absent that does
--                    not wait in another of these calls, or all ranks have come. Otherwise the
--                    absent ranks wait elsewhere. Without any such call, ranks wait for each other
WITH
waiting AS (
    SELECT DISTINCT run_id, rank FROM hang_ranks WHERE role = 'waiting'
),

found AS (
    SELECT
        ranks.run_id,
        ranks.process_group,
        ranks.collective_seq,
        ranks.source_rank,
        ranks.destination_rank,
        arg_min(ranks.kind, ranks.created_ns) AS kind,
        arg_min(ranks.input_sizes, ranks.created_ns) AS input_sizes,
        arg_min(ranks.caller_frame, ranks.created_ns) AS caller_frame,
        min(ranks.created_ns) AS created_ns,
        list(ranks.rank ORDER BY ranks.rank) AS all_ranks,
        list(ranks.role ORDER BY ranks.rank) AS roles,
        count(*) FILTER (WHERE ranks.is_timed_out) > 0 AS is_timed_out,
        bool_or(ranks.role = 'missing')
        OR bool_or(ranks.role = 'absent' AND waiting.rank IS NULL)
        OR NOT bool_or(ranks.role = 'absent') AS is_origin
    FROM hang_ranks AS ranks
    LEFT JOIN waiting USING (run_id, rank)
    GROUP BY ALL
),

described AS (
    SELECT run_id, process_group, any_value(group_description) AS group_description
    FROM flight_groups
    GROUP BY run_id, process_group
),

differing AS (
    SELECT
        run_id,
        process_group,
        any_value(collective_seq) AS from_seq,
        any_value(difference) AS difference
    FROM flight_mismatches
    GROUP BY run_id, process_group
)

SELECT
    found.run_id,
    found.process_group,
    described.group_description,
    found.collective_seq,
    found.source_rank,
    found.destination_rank,
    found.kind,
    found.input_sizes,
    found.caller_frame,
    found.created_ns,
    ranks_with(found.all_ranks, found.roles, 'waiting') AS waiting_ranks,
    ranks_with(found.all_ranks, found.roles, 'absent') AS absent_ranks,
    ranks_with(found.all_ranks, found.roles, 'missing') AS missing_ranks,
    ranks_with(found.all_ranks, found.roles, 'passed') AS passed_ranks,
    found.is_timed_out,
    differing.difference AS mismatch,
    found.is_origin
FROM found
LEFT JOIN described USING (run_id, process_group)
LEFT JOIN differing
    ON
        found.run_id = differing.run_id
        AND found.process_group = differing.process_group
        AND found.collective_seq >= differing.from_seq;
