-- Collectives and point-to-point calls in dumps of torch's flight recorder.
-- One row: a recorded call of a rank.
--
-- run_id, source_id
-- rank               rank of the process that wrote the dump
-- record_id          number of the call in the process, from 0, over all groups; its position in
--                    the dump if the version records none
-- process_group, group_description
-- pg_number          number of the group in the process, which may differ between ranks
-- collective_seq     number of the collective in the group, from 1, the same on all ranks; of a
--                    point-to-point call, that of the last collective before it. Null in versions
--                    1.x if the group has point-to-point calls, which are counted with them there
-- p2p_seq            number of the point-to-point call in the group and process; null for a
--                    collective
-- op_seq             number of the operation in the group and process, also of each of several that
--                    run as one; null if not recorded
-- kind               all_reduce, all_gather, reduce_scatter, all_to_all, broadcast, reduce, gather,
--                    scatter, barrier, send, recv, coalesced (the end of several calls that run as
--                    one), or another name as recorded
-- profiling_name     name as recorded, for example `nccl:_all_gather_base`
-- backend            nccl, gloo, …
-- is_p2p             whether it is a point-to-point call
-- peer_rank          rank at the other end of a point-to-point call; null if unknown, and for a
--                    collective
-- input_sizes        shapes of the inputs
-- output_sizes       shapes of the outputs
-- input_dtypes       types of the inputs; null if not recorded
-- output_dtypes      types of the outputs; null if not recorded
-- created_ns         Unix time at which it was enqueued, ns
-- started_ns         Unix time at which torch noticed that it had started, ns; null if not recorded
-- completed_ns       Unix time at which torch noticed that it had completed, ns; null if not
--                    recorded
-- dur_ns             duration on the device, ns; null unless torch timed it
-- timeout_ns         time after which it counts as hanging, ns; null if not recorded
-- state              scheduled, started or completed, as recorded; with gloo always scheduled
-- is_done            whether it is done: completed, or with gloo, retired. A part of several calls
--                    that run as one is done with them
-- is_timed_out       whether it timed out: retired, although it was not done
-- is_part            whether it is one of several calls that run as one, before their end
-- is_used            whether the views on hangs use it: a later dump of the rank does not have it
-- caller_frame       innermost line of the user's code around the call, `file:line function`; null
--                    if stacks were not recorded, as in JSON
-- stack_id           stack of the call (`stacks.stack_id`); null if not recorded
-- thread_name        name of the thread; null if not recorded
SELECT
    entries.source_id,
    names.rank,
    entries.number AS record_id,
    names.process_group,
    names.group_description,
    entries.pg_id AS pg_number,
    entries.collective_seq,
    entries.p2p_seq,
    entries.op_id AS op_seq,
    entries.kind,
    entries.profiling_name,
    entries.backend,
    entries.is_direct AS is_p2p,
    CASE
        WHEN entries.kind IN ('send', 'recv')
            THEN list_transform(
                [try_cast(regexp_extract(
                    entries.profiling_name,
                    if(entries.kind = 'send', '->\s*(\d+)', '<-\s*(\d+)'),
                    1
                ) AS INTEGER)],
                -- The number of a rank in its group.
                LAMBDA peer: CASE
                    WHEN len(names.ranks) > 0 THEN names.ranks[peer + 1]
                    WHEN is_default_group(names.process_group, names.group_description) THEN peer
                END
            )[1]
    END AS peer_rank,
    entries.input_sizes,
    entries.output_sizes,
    entries.input_dtypes,
    entries.output_dtypes,
    valid_ns(entries.time_created_ns) AS created_ns,
    valid_ns(entries.time_discovered_started_ns) AS started_ns,
    valid_ns(entries.time_discovered_completed_ns) AS completed_ns,
    CASE WHEN entries.duration_ms BETWEEN 0 AND 1e9 THEN (entries.duration_ms * 1e6)::BIGINT END
        AS dur_ns,
    CASE WHEN entries.timeout_ms BETWEEN 1 AND 1000000000000 THEN entries.timeout_ms * 1000000 END
        AS timeout_ns,
    entries.state,
    coalesce(entries.is_done, false) AS is_done,
    coalesce(entries.retired AND NOT entries.is_done, false) AS is_timed_out,
    entries.is_part,
    coalesce(entries.number < dumps.used_before_id, true) AS is_used,
    stacks.user_frame AS caller_frame,
    entries.stack_id,
    entries.thread_name
FROM flight_entries AS entries
INNER JOIN flight_names AS names USING (source_id, name)
INNER JOIN flight_dumps AS dumps USING (source_id)
LEFT JOIN stack_labels AS stacks USING (stack_id);
