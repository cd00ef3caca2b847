-- Device activities, each with its launch and the operators around the launch.
-- One row: a kernel, memory copy or memory set on a device.
-- Start here: Which kernels ran, when, and what launched them?
-- Materialised: several relations read it.
--
-- run_id, source_id, rank
-- event_id           the activity (`events.event_id`)
-- name               name of the kernel as recorded, or description of the copy
-- kind               kernel, memcpy or memset
-- class, device_id
-- device             number of the device; the process id if the trace does not name a device
-- stream             stream on the device; 0 is a valid stream
-- start_ns           start, Unix time, ns
-- dur_ns
-- correlation        number that the activity shares with its launch
-- launch_id          the launching call (`events.event_id`); null if the trace does not contain it
-- launch_ns, launch_dur_ns
-- link               how the launch was found: correlation, flow or external_id; null if it was not
--                    found
-- op_id
-- op                 name of the innermost cpu_op around the launch, which may be a wrapper
-- top_op_id
-- top_op             name of the outermost cpu_op around the launch that is not a wrapper
-- work_op_id         the operator around the launch that counts its work (`op_work.op_id`)
-- is_graph_launch    whether a graph launch started the activity
-- graph_id           number of the graph, if recorded
-- graph_op           of an activity that a graph launch started: name of the innermost cpu_op
--                    around the call that the graph recorded; null if unknown
-- graph_top_op       name of the outermost cpu_op around that call that is not a wrapper; null if
--                    unknown
-- graph_call_id      first activity of the launch that belongs to the same call of that operator
--                    (`kernels.event_id`)
-- graph_module_id    innermost nn.Module around the call that the graph recorded
--                    (`module_tree.module_id`); null if unknown
-- graph_label        name in the annotation of the graph's node
-- recorded_id        the call that the graph recorded (`graph_nodes.recorded_id`); null if unknown,
--                    and if several captures fit that differ in more than ids
-- graph_evidence     how this is known. names: the graph has exactly the recorded kernels, in order
--                    if it ran on one stream. order: it has as many kernels, copies and memsets as
--                    recorded, in order; some names are unknown. annotation: only the annotation is
--                    known. Null if nothing is known
-- step               innermost step around the launch, or around the start of an activity without a
--                    launch (`steps.step`)
-- grid, block, registers, shared_bytes
-- occupancy_percent
-- bytes              bytes moved by a copy or memset
-- gb_per_s           bandwidth of a copy or memset, in 10⁹ bytes per second: as measured by the
--                    profiler, or else `bytes` divided by `dur_ns`; null for kernels, and if
--                    unknown
WITH launched AS (
    SELECT
        activity.* EXCLUDE (lane),
        launches.lane,
        launches.launch_id,
        launches.launch_ns,
        launches.launch_dur_ns,
        launches.launch_name,
        launches.link,
        coalesce(launches.op_id, ops.op_id) AS op_id,
        coalesce(launches.op, ops.op) AS op,
        ops.top_op_id,
        ops.top_op,
        coalesce(launches.launch_ns, activity.start_ns) AS host_ns
    FROM complete AS activity
    LEFT JOIN launches ON activity.event_id = launches.event_id
    LEFT JOIN launching_ops AS ops
        ON launches.lane = ops.lane AND launches.launch_ns = ops.launch_ns
    WHERE activity.side = 'device'
)

SELECT
    launched.source_id,
    launched.rank,
    launched.event_id,
    launched.name,
    replace(launched.category, 'gpu_', '') AS kind,
    CASE
        WHEN launched.category <> 'kernel' THEN 'copy'
        WHEN is_communication(launched.name) OR recorded.collective IS NOT NULL
            THEN 'communication'
        ELSE 'compute'
    END AS class,
    device_id_of(launched.rank, coalesce(recorded.device, try_cast(launched.pid AS BIGINT)))
        AS device_id,
    coalesce(recorded.device, try_cast(launched.pid AS BIGINT)) AS device,
    coalesce(recorded.stream, try_cast(launched.tid AS BIGINT)) AS stream,
    launched.start_ns,
    launched.dur_ns,
    launched.correlation,
    launched.launch_id,
    launched.launch_ns,
    launched.launch_dur_ns,
    launched.link,
    launched.op_id,
    launched.op,
    launched.top_op_id,
    launched.top_op,
    coalesce(
        CASE WHEN launched.launch_ns <= work.end_ns THEN work.op_id END, recorded_work.op_id
    ) AS work_op_id,
    coalesce(is_graph_launch(launched.launch_name), FALSE) AS is_graph_launch,
    recorded.graph_id,
    node.op AS graph_op,
    node.top_op AS graph_top_op,
    node.call_id AS graph_call_id,
    node.module_id AS graph_module_id,
    node.label AS graph_label,
    node.recorded_id,
    node.evidence AS graph_evidence,
    moment.step,
    recorded.grid,
    recorded.block,
    recorded.registers,
    recorded.shared_bytes,
    CASE WHEN isfinite(recorded.occupancy_percent) THEN recorded.occupancy_percent END
        AS occupancy_percent,
    recorded.bytes,
    CASE
        WHEN launched.category <> 'kernel'
            THEN coalesce(
                CASE WHEN isfinite(recorded.gb_per_s) THEN nullif(recorded.gb_per_s, 0) END,
                recorded.bytes / nullif(launched.dur_ns, 0)
            )
    END AS gb_per_s
FROM launched
LEFT JOIN staged_activities AS recorded ON launched.event_id = recorded.event_id
LEFT JOIN replayed_nodes AS node ON launched.event_id = node.event_id
LEFT JOIN (
    SELECT op_id, unnest(kernel_ids) AS event_id FROM megengine_work
) AS recorded_work
    ON launched.event_id = recorded_work.event_id
ASOF LEFT JOIN op_work_spans AS work
    ON launched.lane = work.lane AND launched.launch_ns >= work.start_ns
ASOF LEFT JOIN step_moments('steps') AS moment
    ON launched.source_id = moment.source_id AND launched.host_ns >= moment.from_ns;
