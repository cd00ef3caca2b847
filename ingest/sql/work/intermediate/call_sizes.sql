-- Symbolic sizes of the calls of compiled graphs, such as `s2`. A log has the shapes of the
-- arguments of extern kernels with these sizes, and a trace with numbers.
-- One row: a call of a compiled graph; `sizes` has the number for each product of sizes
-- (`printed_size`) that is known.
-- Materialised: it is joined.
WITH
extern AS (
    SELECT
        calls.region_id,
        nodes.inputs,
        try_cast(recorded.input_dims::JSON AS JSON[]) AS dims
    FROM compiled_graph_calls AS calls
    INNER JOIN staged_kernel_calls AS kernel
        ON
            calls.source_id = kernel.source_id
            AND calls.compiled_graph_id = kernel.compiled_graph_id
            AND calls.ordinal = kernel.ordinal
    INNER JOIN staged_nodes AS nodes
        ON
            calls.source_id = nodes.source_id
            AND calls.compiled_graph_id = nodes.compiled_graph_id
            AND nodes.stage = 'aten'
            AND list_contains(kernel.aten_nodes, nodes.node)
            AND dispatched(kernel.kernel) = dispatched(nodes.target)
    INNER JOIN staged_calls AS recorded ON calls.event_id = recorded.event_id
),

arguments AS (
    SELECT region_id, unnest(list_zip(inputs, dims)) AS argument
    FROM extern
),

axes AS (
    SELECT
        region_id,
        unnest(list_zip(
            string_split(regexp_extract(argument[1], '\[(.+)\]$', 1), ', '),
            try_cast(argument[2] AS DOUBLE[])
        )) AS axis
    FROM arguments
    WHERE
        regexp_matches(argument[1], '\[.*[a-z]')
        AND json_array_length(argument[2]) = len(string_split(argument[1], ', '))
),

solved AS (
    SELECT
        region_id,
        printed_size(concat('f32[', axis[1], ']')) AS size,
        axis[2] / size['factor'] AS value
    FROM axes
)

SELECT region_id, map_from_entries(list((symbols, value))) AS sizes
FROM (
    SELECT region_id, size['symbols'] AS symbols, any_value(value) AS value
    FROM solved
    WHERE size['symbols'] <> '' AND value >= 0 AND value % 1 = 0
    GROUP BY region_id, size['symbols']
    HAVING min(value) = max(value)
)
GROUP BY region_id;
