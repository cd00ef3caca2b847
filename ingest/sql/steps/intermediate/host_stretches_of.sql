-- The host's activity in a run without a device, over all threads: `host_stretches_of(windows,
-- changes)`. `windows` has time ranges in the form of `work_windows`. `changes` (source_id,
-- from_ns, and any other columns) has the times at which something changes, such as the step.
-- One row: an interval between two changes, once for each window around it. `measured` is the row
-- of `windows`, and `moment` is the row of `changes` that holds for the interval. `part` is the
-- part of a step that the interval belongs to; `operators` is the number of outermost operators
-- that ran.
CREATE MACRO host_stretches_of(windows, changes) AS TABLE
    WITH
    spans AS (
        SELECT
            '' AS run_id,
            source_id AS lane,
            start_ns,
            start_ns + dur_ns AS end_ns,
            (kind = 'operator')::INTEGER AS operators,
            (kind = 'compiled_code')::INTEGER AS compiled_code,
            (kind = 'dataloader')::INTEGER AS loaders,
            (kind = 'compile')::INTEGER AS compilers
        FROM host_activities
        UNION ALL BY NAME
        SELECT '' AS run_id, source_id AS lane, from_ns AS start_ns, from_ns AS end_ns
        FROM query_table(changes)
        UNION ALL BY NAME
        SELECT '' AS run_id, source_id AS lane, start_ns, end_ns
        FROM query_table(windows)
        WHERE measure = 'host'
    ),

    running AS (
        SELECT lane AS source_id, * EXCLUDE (run_id, lane) FROM swept('spans')
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
