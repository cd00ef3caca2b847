-- Calls of compiled graphs in the traces of ranks that have a compile log.
-- One row: a call, with the key of its graph; without caches it has none.
CREATE TABLE graph_calls AS
SELECT
    source_id,
    rank,
    event_id AS region_id,
    lane,
    start_ns,
    end_ns,
    nullif(regexp_extract(name, '^## Call CompiledFxGraph (.*?) ##', 1), 'None') AS key
FROM complete
WHERE
    category IN ('user_annotation', 'cpu_op')
    AND starts_with(name, '## Call CompiledFxGraph ')
    AND rank IN (SELECT rank FROM graphs);

CREATE VIEW graph_call_moments AS
SELECT lane, start_ns AS from_ns, start_ns + 1 AS to_ns FROM graph_calls;

-- What each of these calls did, in order: its outermost cpu_ops, and kernels without one of their
-- own, as older traces have them for Triton's.
-- One row: an op or a kernel inside of a call.
CREATE TABLE graph_call_parts AS
WITH
ops AS (
    SELECT
        graph_calls.region_id,
        op.event_id,
        NULL::BIGINT AS kernel_id,
        op.start_ns AS at_ns,
        generated_kernel(op.name) AS called
    FROM op_nest
    INNER JOIN graph_calls ON op_nest.parent_id = graph_calls.region_id
    INNER JOIN complete AS op ON op_nest.event_id = op.event_id
    WHERE op.category = 'cpu_op'
),

launched AS (
    SELECT kernels.event_id, kernels.op_id, kernels.name, launches.lane, launches.launch_ns
    FROM kernels
    INNER JOIN launches ON kernels.event_id = launches.event_id
    WHERE kernels.kind = 'kernel' AND NOT kernels.graph_launch
),

bare AS (
    SELECT
        graph_calls.region_id,
        NULL::BIGINT AS event_id,
        launched.event_id AS kernel_id,
        launched.launch_ns AS at_ns,
        launched.name AS called
    FROM launched
    ASOF INNER JOIN graph_calls
        ON launched.lane = graph_calls.lane AND launched.launch_ns >= graph_calls.start_ns
    LEFT JOIN complete AS op ON launched.op_id = op.event_id
    WHERE
        launched.launch_ns < graph_calls.end_ns
        AND (op.start_ns IS NULL OR op.start_ns < graph_calls.start_ns)
)

FROM ops
UNION ALL
FROM bare;
