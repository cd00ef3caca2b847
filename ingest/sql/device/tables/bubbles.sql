-- Idle gaps of a device, each with its cause and what the host did during it.
-- One row: a gap between device activities, over all streams; or the time before a device's first
-- activity or after its last one, from the start of the recording to its end. If only other files
-- of the rank use the device, it is the whole recording.
-- Materialised: several relations read it, and deriving the causes takes long.
--
-- run_id, source_id, rank, device_id, device
-- start_ns         Unix time at which the device became idle, ns
-- dur_ns           duration of the gap, ns
-- is_edge          whether it is before the device's first activity or after its last one; such a
--                  gap is cut where the measured time begins and ends
-- before_kernel    name of the activity before the gap; null before the first activity
-- after_kernel     name of the activity after the gap; null after the last activity
-- before_kernel_id, after_kernel_id
-- cause            why the device was idle: `host`, `sync`, `dataloader`, `compile`, `launch`,
--                  `dependency` or `unknown`; the view `parts` explains each
-- launch_delay_ns  time from the start of the gap to the launch of the activity after it, ns;
--                  negative if it was launched before the gap; null if unknown, and after the last
--                  activity
-- host_op          operator or annotation that filled most of the gap on the launching thread; null
--                  if there was none, or if the activity was launched before the gap
-- host_op_ns       part of the gap that `host_op` filled, ns
-- host_frame
-- wait             for cause `sync`, the outermost operator, or without an operator the call, in
--                  which the host waited when the gap began; null for other causes
-- wait_frame       for cause `sync`, the innermost line of Python around `wait`; null if the trace
--                  has no stacks
-- step             step of the activity after the gap (`steps.step`); after the last activity, the
--                  step of the host; null outside of the measured time
SELECT
    gaps.source_id,
    devices.rank,
    gaps.device_id,
    devices.device,
    gaps.from_ns AS start_ns,
    gaps.to_ns - gaps.from_ns AS dur_ns,
    gaps.before_kernel_id IS NULL OR gaps.after_kernel_id IS NULL AS is_edge,
    previous.name AS before_kernel,
    next.name AS after_kernel,
    gaps.before_kernel_id,
    gaps.after_kernel_id,
    idle_cause(step_part_rules(
        is_late := gaps.is_late,
        is_waiting := gap_hosts.waited,
        is_loading := gap_hosts.loaded_data,
        is_compiling := gap_hosts.compiled,
        is_dependent := (
            previous.event_id IS NOT NULL AND previous.stream IS DISTINCT FROM next.stream
        )
        OR previous.class = 'communication'
        OR gaps.is_wait
    )) AS cause,
    gaps.launch_ns - gaps.from_ns AS launch_delay_ns,
    gap_hosts.host_op,
    gap_hosts.host_op_ns,
    gap_hosts.host_frame,
    CASE
        WHEN cause = 'sync'
            THEN coalesce(
                gap_hosts.wait_op,
                CASE WHEN previous.kind = 'memcpy' THEN previous.top_op END,
                gap_hosts.wait
            )
    END AS wait,
    CASE WHEN cause = 'sync' THEN gap_hosts.wait_frame END AS wait_frame,
    CASE
        WHEN gaps.is_outside THEN NULL
        WHEN gaps.after_kernel_id IS NULL THEN gaps.host_step
        ELSE next.step
    END AS step
FROM gaps
INNER JOIN work_devices AS devices ON gaps.device_id = devices.device_id
LEFT JOIN kernels AS previous ON gaps.before_kernel_id = previous.event_id
LEFT JOIN kernels AS next ON gaps.after_kernel_id = next.event_id
LEFT JOIN gap_hosts ON gaps.gap_id = gap_hosts.gap_id;
