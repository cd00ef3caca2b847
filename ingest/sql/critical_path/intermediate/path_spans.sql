-- Spans of the host during the steps: operators, annotations and calls of the runtime. Python
-- frames are not part of a path: their self time counts as the host's time.
-- One row: a span of a step, cut at the step's ends.
-- Materialised: a step in Python reads it.
--
-- `call_label`, `op_label` and `module_label` represent the names by which the summary groups; 0
-- means that there is no name. `wait` is 1 for a call that waits for the device, and 2 for a wait
-- for the workers of a data loader, whose end is not recorded. `cause` is 1 in a data loader, 2 in
-- torch.compile, and otherwise 0.
WITH causes AS (
    SELECT
        lane,
        start_ns,
        -- The cause that ends last is around the others.
        arg_max(if(is_compilation(name), 2, 1), end_ns) OVER so_far AS cause,
        max(end_ns) OVER so_far AS end_ns
    FROM complete
    WHERE
        category IN ('cpu_op', 'user_annotation')
        AND (is_data_loader(name) OR is_compilation(name))
    WINDOW so_far AS (PARTITION BY lane ORDER BY start_ns)
)

SELECT
    path_steps.path,
    span.lane,
    span.event_id,
    greatest(span.start_ns, path_steps.start_ns) AS start_ns,
    least(span.end_ns, path_steps.end_ns) AS end_ns,
    CASE
        WHEN span.category IN ('cuda_runtime', 'cuda_driver') AND is_wait(span.name) THEN 1
        WHEN span.name LIKE '%\_MultiProcessingDataLoaderIter%' ESCAPE '\' THEN 2
        ELSE 0
    END AS wait,
    (span.category = 'user_annotation')::TINYINT AS is_annotation,
    (span.category = 'cpu_op')::TINYINT AS is_op,
    starts_with(span.name, 'autograd::engine::')::TINYINT AS is_autograd,
    if(span.start_ns < causes.end_ns, causes.cause, 0)::TINYINT AS cause,
    hash(span.name) AS call_label,
    if(ops.event_id IS NULL, 0, hash(ops.name)) AS op_label,
    if(ops.module IS NULL, 0, hash(ops.module)) AS module_label
FROM complete AS span
INNER JOIN host_nest ON span.event_id = host_nest.event_id
INNER JOIN path_steps
    ON
        span.source_id = path_steps.source_id
        AND (host_nest.step = path_steps.step OR path_steps.step IS NULL)
LEFT JOIN ops ON span.event_id = ops.event_id AND ops.category = 'cpu_op'
ASOF LEFT JOIN causes ON span.lane = causes.lane AND span.start_ns >= causes.start_ns
WHERE
    span.category IN ('cpu_op', 'user_annotation', 'cuda_runtime', 'cuda_driver')
    AND span.start_ns < path_steps.end_ns
    AND span.end_ns > path_steps.start_ns;
