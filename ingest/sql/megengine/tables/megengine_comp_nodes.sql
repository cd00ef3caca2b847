-- Comp nodes of MegEngine, which are streams of devices.
-- One row: a comp node.
--
-- run_id, source_id, rank, comp_node
-- device_id
-- device          number of the device (`kernels.device`)
-- stream          stream on the device (`kernels.stream`)
-- clock_shift_ns  shift that was added to its times in `events` and `kernels`, ns. The clock of a
--                 comp node starts at its first event. The shift is the smallest with which no
--                 operator starts before the host dispatched it, nor before the work that it waits
--                 for ended
SELECT
    node.source_id,
    sources.rank,
    node.comp_node,
    device_id_of(sources.rank, node.device) AS device_id,
    node.device,
    node.stream,
    node.clock_shift_ns
FROM staged_megengine_comp_nodes AS node
INNER JOIN staged_sources AS sources ON node.source_id = sources.source_id
ORDER BY node.source_id, node.device, node.stream;
