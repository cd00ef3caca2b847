-- The kernel calls of compiled code in the trace: the call in the generated code that each operator
-- or kernel belongs to.
-- One row: an operator inside a call of a compiled graph; in older traces, a kernel.
-- Materialised: a relation reads it, and its file is written from it.
--
-- There is a row only if the link is certain: exactly one graph matches the call by its key, by the
-- compilation of the region around it, and by the names, in order, of everything that it called.
--
-- run_id
-- source_id      the trace
-- rank
-- event_id       the cpu_op (`ops.event_id`); null if the trace has none
-- kernel_id      the kernel (`kernels.event_id`) if the trace has no cpu_op for it; null otherwise
-- log_source_id  the compile log (`sources.source_id`)
-- compile_id, graph_index
-- ordinal        the kernel call (`compiled_kernels.ordinal`)
-- region_id      the call of the graph, `## Call CompiledFxGraph` (`events.event_id`)
WITH
codes AS (
    SELECT
        graphs.*,
        calls.ordinals,
        calls.called
    FROM graphs
    INNER JOIN (
        SELECT
            source_id,
            compiled_graph_id,
            list(ordinal ORDER BY ordinal) AS ordinals,
            list(dispatched(kernel) ORDER BY ordinal) AS called
        FROM staged_kernel_calls
        GROUP BY source_id, compiled_graph_id
    ) AS calls USING (source_id, compiled_graph_id)
),

traced AS (
    SELECT
        region_id,
        list(event_id ORDER BY at_ns, coalesce(event_id, kernel_id)) AS event_ids,
        list(kernel_id ORDER BY at_ns, coalesce(event_id, kernel_id)) AS kernel_ids,
        list(called ORDER BY at_ns, coalesce(event_id, kernel_id)) AS called
    FROM graph_call_parts
    GROUP BY region_id
),

around AS (
    SELECT lane, from_ns AS start_ns, arg_max(compile_id, nesting_order) AS compile_id
    FROM overlapping('compiled_regions', 'graph_call_moments')
    GROUP BY lane, from_ns
),

matched AS (
    SELECT
        graph_calls.source_id,
        graph_calls.rank,
        graph_calls.region_id,
        traced.event_ids,
        traced.kernel_ids,
        codes.source_id AS log_source_id,
        codes.compile_id,
        codes.graph_index,
        codes.ordinals
    FROM graph_calls
    INNER JOIN traced USING (region_id)
    LEFT JOIN around USING (lane, start_ns)
    INNER JOIN codes
        ON graph_calls.rank = codes.rank AND traced.called = codes.called
    WHERE
        coalesce(graph_calls.key = codes.key, TRUE)
        AND coalesce(around.compile_id = codes.compile_id, TRUE)
    QUALIFY count(*) OVER (PARTITION BY graph_calls.region_id) = 1
)

SELECT
    source_id,
    rank,
    unnest(event_ids) AS event_id,
    unnest(kernel_ids) AS kernel_id,
    log_source_id,
    compile_id,
    graph_index,
    unnest(ordinals) AS ordinal,
    region_id
FROM matched;
