-- Kernel calls of the generated code, in their order.
-- One row: a kernel call.
-- Paths: stacks (texts_without_places)
CREATE TABLE staged_kernel_calls (
    source_id INTEGER,
    graph_id INTEGER,
    ordinal INTEGER,
    kernel VARCHAR,
    aten_nodes VARCHAR[],
    stacks VARCHAR[]
);
