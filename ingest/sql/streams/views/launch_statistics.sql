-- How long launches took, and how long the launched work waited:
-- `launch_statistics(by_step, long_call_ns, long_delay_ns)`.
-- One row: an API call by name, on a device, in the whole recording or in a step.
--
-- Activities whose launch was not recorded are in no row.
--
-- run_id           the run
-- rank             rank of the process
-- device           number of the device
-- step             step that launched (`steps.step`); null outside steps, and without `by_step`
-- api              name of the call
-- launches         number of calls
-- activities       number of kernels, copies and sets that they launched
-- call_ns          time that the host spent in the calls, ns
-- median_call_ns   the median of a call, ns
-- max_call_ns      the longest call, ns
-- device_ns        sum of the durations of what they launched, ns
-- delay_ns         sum of the times from the end of a call to the start of its work, ns
-- median_delay_ns  the median of these, ns
-- mean_delay_ns    their mean, ns
-- max_delay_ns     the longest, ns
-- prompt_launches  calls whose work began before they ended
-- short_launches   calls that took longer than the work they launched
-- long_calls       calls longer than `long_call_ns`
-- long_delays      delays longer than `long_delay_ns`
CREATE MACRO launch_statistics(
    by_step := FALSE, long_call_ns := 50000, long_delay_ns := 100000
) AS TABLE
    SELECT
        run_id,
        rank,
        device,
        if(by_step, step, NULL) AS step,
        api,
        count(*) AS launches,
        sum(activities)::BIGINT AS activities,
        sum(dur_ns)::BIGINT AS call_ns,
        median(dur_ns) AS median_call_ns,
        max(dur_ns) AS max_call_ns,
        sum(device_ns)::BIGINT AS device_ns,
        sum(delay_ns)::BIGINT AS delay_ns,
        median(delay_ns) AS median_delay_ns,
        avg(delay_ns) AS mean_delay_ns,
        max(delay_ns) AS max_delay_ns,
        count(*) FILTER (WHERE delay_ns = 0) AS prompt_launches,
        count(*) FILTER (WHERE device_ns < dur_ns) AS short_launches,
        count(*) FILTER (WHERE dur_ns > long_call_ns) AS long_calls,
        count(*) FILTER (WHERE delay_ns > long_delay_ns) AS long_delays
    FROM launch_calls
    GROUP BY ALL;
