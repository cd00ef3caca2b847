-- What the host did in a run without a device, in place of device activities; empty for any other.
-- One row: an outermost operator, or a call of a compiled graph.
--
-- Each is of a layer, and where they share time the lowest has it: 1, operators; 2, generated code,
-- which is a compiled graph outside of operators; 3, data loaders; 4, phases of compilation.
CREATE TABLE host_activities AS
SELECT
    source_id,
    rank,
    NULL::BIGINT AS device,
    event_id,
    start_ns,
    end_ns - start_ns AS dur_ns,
    CASE
        WHEN is_compilation(name) THEN 4
        WHEN is_data_loader(name) THEN 3
        ELSE 1
    END AS layer
FROM outermost_ops
WHERE NOT EXISTS (FROM kernels)
UNION ALL
SELECT source_id, rank, NULL AS device, event_id, start_ns, dur_ns, 2 AS layer
FROM complete
WHERE
    category IN ('cpu_op', 'user_annotation')
    AND is_compiled_graph(name)
    AND NOT EXISTS (FROM kernels);

-- With each layer also the ones below it: what it adds to their union is its own.
CREATE VIEW host_layers AS
SELECT source_id, rank, unnest(range(layer, 5)) AS device, event_id, start_ns, dur_ns
FROM host_activities;

-- Stretches of these and of devices, of which a host is none.
CREATE VIEW busy_islands AS
SELECT class, source_id, device, start_ns, end_ns FROM device_islands
UNION ALL
SELECT
    ['operators', 'all', 'and loading', 'and compiling'][device] AS class,
    source_id,
    NULL AS device,
    start_ns,
    end_ns
FROM islands('host_layers');
