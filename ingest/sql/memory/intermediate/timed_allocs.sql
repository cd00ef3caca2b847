-- The time of each allocation, on a lane. Allocations in a trace have a thread. Those in a snapshot
-- have none, so their lane is the entire rank. A snapshot's clock counts Unix time in complete
-- microseconds.
-- One row: an allocation whose start is known.
-- Materialised: several relations read it.
SELECT
    actions.action_id,
    if(
        actions.origin = 'trace',
        hash(staged.source_id, staged.pid, staged.tid),
        hash('rank', sources.rank)
    ) AS lane,
    actions.time_ns + if(actions.origin = 'trace', 0, 999) AS from_ns
FROM memory_actions AS actions
INNER JOIN staged_sources AS sources USING (source_id)
LEFT JOIN staged ON actions.event_id = staged.event_id
WHERE
    actions.action = 'alloc'
    AND actions.time_ns IS NOT NULL
    AND (
        actions.origin = 'trace'
        OR sources.rank IN (SELECT complete.rank FROM complete WHERE complete.category = 'cpu_op')
    );
