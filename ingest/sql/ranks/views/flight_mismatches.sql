-- The first collective of each process group in which the ranks differ in kind, shape or data type.
-- Collectives are compared by their number, and only where a rank recorded them, so what a recorder
-- has overwritten does not count.
-- One row: a rank that recorded that collective.
--
-- run_id, process_group
-- collective_seq  number of the collective in the group
-- difference      what differs: kind, or else shape, or else dtype. Shapes may differ in
--                 all_to_all; at the inputs of scatter; at the outputs of gather; and in calls that
--                 end in `_v`
-- rank
-- kind            kind of the call; of several calls that run as one, their kinds joined by +
-- input_sizes     shapes of the inputs of all these calls
-- output_sizes    shapes of the outputs of all these calls
-- input_dtypes    types of these inputs; null if not recorded
-- output_dtypes   types of these outputs; null if not recorded
-- is_odd          whether it differs from most ranks; null if as many ranks have another call
-- is_done         whether it is done on this rank
-- caller_frame    innermost line of the user's code around it; null if stacks were not recorded
WITH
calls AS (
    SELECT
        records.run_id,
        records.process_group,
        records.collective_seq,
        records.rank,
        string_agg(records.kind, '+' ORDER BY records.record_id) AS kind,
        flatten(list(records.input_sizes ORDER BY records.record_id)) AS input_sizes,
        flatten(list(records.output_sizes ORDER BY records.record_id)) AS output_sizes,
        flatten(
            list(records.input_dtypes ORDER BY records.record_id)
            FILTER (WHERE records.input_dtypes IS NOT NULL)
        ) AS input_dtypes,
        flatten(
            list(records.output_dtypes ORDER BY records.record_id)
            FILTER (WHERE records.output_dtypes IS NOT NULL)
        ) AS output_dtypes,
        list(
            CASE
                WHEN
                    records.kind NOT IN ('all_to_all', 'scatter')
                    AND NOT regexp_matches(records.profiling_name, '_v(_single)?$')
                    THEN records.input_sizes
            END ORDER BY records.record_id
        ) AS equal_inputs,
        list(
            CASE
                WHEN
                    records.kind NOT IN ('all_to_all', 'gather')
                    AND NOT regexp_matches(records.profiling_name, '_v(_single)?$')
                    THEN records.output_sizes
            END ORDER BY records.record_id
        ) AS equal_outputs,
        list(
            -- Only the root has inputs of a scatter, and outputs of a gather.
            CASE WHEN records.kind = 'scatter' THEN records.output_dtypes ELSE records.input_dtypes
            END ORDER BY records.record_id
        ) AS equal_dtypes,
        bool_and(records.is_done) AS is_done,
        arg_min(records.caller_frame, records.record_id) AS caller_frame
    FROM flight_records AS records
    WHERE records.is_used AND NOT records.is_p2p AND records.collective_seq IS NOT NULL
    GROUP BY ALL
),

differing AS (
    SELECT
        run_id,
        process_group,
        collective_seq,
        CASE
            WHEN count(DISTINCT kind) > 1 THEN 'kind'
            WHEN count(DISTINCT [equal_inputs, equal_outputs]) > 1 THEN 'shape'
            WHEN count(DISTINCT equal_dtypes) > 1 THEN 'dtype'
        END AS difference
    FROM calls
    GROUP BY run_id, process_group, collective_seq
    HAVING difference IS NOT NULL
),

firsts AS (
    SELECT
        run_id,
        process_group,
        min(collective_seq) AS collective_seq,
        arg_min(difference, collective_seq) AS difference
    FROM differing
    GROUP BY run_id, process_group
),

counted AS (
    SELECT
        calls.*,
        firsts.difference,
        count(*) OVER (
            PARTITION BY
                calls.run_id,
                calls.process_group,
                CASE firsts.difference
                    WHEN 'kind' THEN calls.kind
                    WHEN 'shape' THEN [calls.equal_inputs, calls.equal_outputs]::VARCHAR
                    ELSE calls.equal_dtypes::VARCHAR
                END
        ) AS ranks_like_it
    FROM calls
    INNER JOIN firsts USING (run_id, process_group, collective_seq)
)

SELECT
    run_id,
    process_group,
    collective_seq,
    difference,
    rank,
    kind,
    input_sizes,
    output_sizes,
    input_dtypes,
    output_dtypes,
    CASE
        WHEN 2 * ranks_like_it > count(*) OVER of_group THEN FALSE
        WHEN 2 * max(ranks_like_it) OVER of_group > count(*) OVER of_group THEN TRUE
    END AS is_odd,
    is_done,
    caller_frame
FROM counted
WINDOW of_group AS (PARTITION BY run_id, process_group);
