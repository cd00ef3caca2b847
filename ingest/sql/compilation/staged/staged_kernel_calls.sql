-- Kernel calls of compiled code, in order.
-- One row: a kernel call.
-- Paths: stacks (texts_without_places)
CREATE TABLE staged_kernel_calls (
    source_id INTEGER,
    compiled_graph_id INTEGER,
    ordinal BIGINT,
    kernel VARCHAR,
    aten_nodes VARCHAR[],
    stacks VARCHAR[],
    reads VARCHAR[],  -- types and shapes of what a fused kernel reads, such as `f32[16*s2, 32]`
    writes VARCHAR[]  -- and of what it writes; empty if unknown
);
