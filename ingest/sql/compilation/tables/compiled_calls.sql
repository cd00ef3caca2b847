-- The kernel calls of compiled code in the trace: what ran, and which line of the code it was.
-- One row: an operator (or, of older traces, a kernel) inside a call of a compiled graph.
-- Materialised: a relation reads it, and its file is written from it.
--
-- Only where it is certain: one graph alone fits the call by its key, by the compilation that the
-- region around it names, and by the names of all it called, in their order.
--
-- run_id         the run
-- source_id      the trace
-- rank           rank of the process
-- event_id       the cpu_op (`ops.event_id`); null where the trace has none
-- kernel_id      the kernel (`kernels.event_id`), where the trace has no cpu_op for it
-- log_source_id  the compile log (`sources.source_id`)
-- compile_id     the compilation (`compilations.compile_id`), e.g. `0/1`
-- graph_index    number of the graph in the compilation
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

done AS (
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
        done.event_ids,
        done.kernel_ids,
        codes.source_id AS log_source_id,
        codes.compile_id,
        codes.graph_index,
        codes.ordinals
    FROM graph_calls
    INNER JOIN done USING (region_id)
    LEFT JOIN around USING (lane, start_ns)
    INNER JOIN codes
        ON graph_calls.rank = codes.rank AND done.called = codes.called
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
