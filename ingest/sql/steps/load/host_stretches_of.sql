-- The host's activity in a run without a device, over all threads: `host_stretches_of(windows,
-- changes)`. `windows` has time ranges in the form of `work_windows`. `changes` (source_id,
-- from_ns, and any other columns) has the times at which something changes, such as the step.
-- One row: an interval between two changes, once for each window around it. `measured` is the row
-- of `windows`, and `moment` is the row of `changes` that holds for the interval. `part` is the
-- part of a step that the interval belongs to; `operators` is the number of outermost operators
-- that ran.
CREATE MACRO host_stretches_of(windows, changes) AS TABLE
    WITH
    edges AS (
        SELECT source_id, start_ns AS edge_ns, kind, 1 AS change FROM host_activities
        UNION ALL
        SELECT source_id, start_ns + dur_ns AS edge_ns, kind, -1 AS change FROM host_activities
        UNION ALL
        SELECT source_id, from_ns AS edge_ns, NULL AS kind, 0 AS change
        FROM query_table(changes)
        UNION ALL
        SELECT
            source_id,
            unnest([start_ns, end_ns]) AS edge_ns,
            NULL AS kind,
            0 AS change
        FROM query_table(windows)
        WHERE measure = 'host'
    ),

    running AS (
        SELECT
            source_id,
            edge_ns AS start_ns,
            lead(edge_ns) OVER (PARTITION BY source_id ORDER BY edge_ns) AS end_ns,
            coalesce(sum(sum(change) FILTER (WHERE kind = 'operator')) OVER up_to, 0) AS operators,
            coalesce(sum(sum(change) FILTER (WHERE kind = 'compiled_code')) OVER up_to, 0)
                AS compiled_code,
            coalesce(sum(sum(change) FILTER (WHERE kind = 'dataloader')) OVER up_to, 0) AS loaders,
            coalesce(sum(sum(change) FILTER (WHERE kind = 'compile')) OVER up_to, 0) AS compilers
        FROM edges
        GROUP BY source_id, edge_ns
        WINDOW up_to AS (PARTITION BY source_id ORDER BY edge_ns)
    )

    SELECT
        running.source_id,
        measured,
        moment,
        running.end_ns - running.start_ns AS dur_ns,
        running.operators::BIGINT AS operators,
        CASE
            WHEN running.operators > 0 THEN 'compute'
            WHEN running.compiled_code > 0 THEN 'compiled_code'
            ELSE idle_cause(step_part_rules(
                is_late := TRUE,
                is_loading := running.loaders > 0,
                is_compiling := running.compilers > 0 AND running.loaders = 0
            ))
        END AS part
    FROM running
    INNER JOIN query_table(windows) AS measured
        ON
            running.source_id = measured.source_id
            AND running.start_ns >= measured.start_ns
            AND running.end_ns <= measured.end_ns
    ASOF LEFT JOIN query_table(changes) AS moment
        ON running.source_id = moment.source_id AND running.start_ns >= moment.from_ns
    WHERE measured.measure = 'host';
