-- `kernel_args(kernel)`: the columns of a row of `kernels` as the profiler writes them into the
-- arguments of an event (JSON).
CREATE MACRO kernel_args(kernel) AS json_merge_patch('{}', json_object(
    'device', kernel.device,
    'stream', kernel.stream,
    'graph id', kernel.graph_id,
    'grid', kernel.grid,
    'block', kernel.block,
    'registers per thread', kernel.registers,
    'shared memory', kernel.shared_bytes,
    'est. achieved occupancy %', kernel.occupancy_percent,
    'bytes', kernel.bytes,
    'memory bandwidth (GB/s)', kernel.gb_per_s
));
