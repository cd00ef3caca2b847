-- Meaning: Kernels that took less time than their launch call, and the idle time of cause `launch`
--   right before them, as in `short_kernels`.
-- Title: Kernels shorter than their launch
-- Short title: small kernels
-- Colour: launch
-- Applies to: device
-- Needs: launches
-- Names: kernel
-- Finding: {calls} of {kernels} kernels took less time than the call that launched them. They took
--   {work} of {steps}, and the device was idle for {idle} right before them.
-- Also: Another {late} of idle time before them counts as late launches of the host.
-- Remedy unless compiled: Fuse them (torch.compile).
-- Remedy unless graphs: Record CUDA graphs.
-- Remedy: Give each kernel more work (a larger batch).
-- Evidence: short_kernels
-- Evidence of: name
-- Evidence sums: sum(device_ns)::BIGINT AS device_ns,
--   sum(launch_idle_ns)::BIGINT AS launch_idle_ns, sum(host_idle_ns)::BIGINT AS host_idle_ns,
--   sum(calls)::BIGINT AS calls
-- Evidence order: sum(device_ns + launch_idle_ns) DESC, name
SELECT
    *,
    device_ns AS work_ns,
    device_ns AS saved_ns,
    launch_idle_ns AS idle_ns,
    host_idle_ns AS late_ns,
    device_ns + launch_idle_ns AS named_ns
FROM short_kernels;
