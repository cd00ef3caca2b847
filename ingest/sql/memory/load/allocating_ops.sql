-- When memory was allocated, and what ran then.

-- One row: a moment at which a device's allocator acted, and its last action in it; of sources that
-- have marks or steps to be placed among them.
CREATE VIEW action_moments AS
SELECT source_id, device, time_ns, max(ordinal) AS ordinal
FROM staged_actions
WHERE
    time_ns IS NOT NULL
    AND (
        source_id IN (SELECT marks.source_id FROM staged_marks AS marks)
        OR (SELECT count(*) FROM steps) > 0
    )
GROUP BY source_id, device, time_ns;

-- One row: an allocation with a birth, on a lane. Those of a trace name their thread; a snapshot
-- names none, so that its lane is the whole rank, and its clock Unix time in whole microseconds.
CREATE TABLE births AS
SELECT
    actions.action_id,
    if(
        actions.origin = 'trace',
        hash(staged.source_id, staged.pid, staged.tid),
        hash('rank', sources.rank)
    ) AS lane,
    actions.time_ns + if(actions.origin = 'trace', 0, 999) AS from_ns
FROM staged_actions AS actions
INNER JOIN staged_sources AS sources USING (source_id)
LEFT JOIN staged ON actions.event_id = staged.event_id
WHERE
    actions.action = 'alloc'
    AND actions.time_ns IS NOT NULL
    AND (
        actions.origin = 'trace'
        OR sources.rank IN (SELECT complete.rank FROM complete WHERE complete.category = 'cpu_op')
    );

CREATE VIEW birth_moments AS
SELECT DISTINCT lane, from_ns, from_ns + 1 AS to_ns FROM births;

-- One row: an operator or module that may be around an allocation, on its thread's lane, and on its
-- rank's where a snapshot asks for that.
CREATE VIEW allocating_spans AS
WITH spans AS (
    SELECT
        lane,
        rank,
        event_id,
        name,
        start_ns,
        end_ns,
        category = 'cpu_op' AS is_op,
        (start_ns, -end_ns, event_index, event_id) AS place
    FROM complete
    WHERE
        (category = 'cpu_op' OR (category = 'python_function' AND name LIKE 'nn.Module: %'))
        AND start_ns <= (SELECT max(from_ns) FROM births)
)

SELECT lane, event_id, name, start_ns, end_ns, is_op, place
FROM spans
WHERE lane IN (SELECT lane FROM births)
UNION ALL
SELECT hash('rank', rank) AS lane, event_id, name, start_ns, end_ns, is_op, place
FROM spans
WHERE hash('rank', rank) IN (SELECT lane FROM births);

-- One row: a moment of an allocation inside at least one of them.
CREATE TABLE allocating_ops AS
SELECT
    lane,
    from_ns,
    arg_max(event_id, place) FILTER (WHERE is_op) AS op_id,
    arg_max(name, place) FILTER (WHERE is_op) AS op,
    arg_max(name, place) FILTER (WHERE NOT is_op) AS module
FROM overlapping('allocating_spans', 'birth_moments')
GROUP BY lane, from_ns;
