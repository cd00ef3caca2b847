-- Duration of launches, and delay of the launched work: `launch_statistics(run, from_step, to_step,
-- long_call_ns, long_delay_ns)`. Without a run it is about all runs, without steps about whole
-- recordings. In steps, the calls made in them count.
-- One row: an API call by name, on a device, in these steps.
--
-- Activities whose launch was not recorded are left out.
--
-- run_id, rank, device
-- api
-- launches         number of launching calls
-- activities       number of kernels, copies and memsets that the calls launched
-- call_ns          time that the host spent in the calls, ns
-- median_call_ns   median duration of a call, ns
-- max_call_ns      duration of the longest call, ns
-- device_ns        sum of the durations of `activities`, ns
-- delay_ns         sum of the delays, ns; a delay is the time from the end of a call to the start
--                  of its work
-- median_delay_ns  median delay, ns
-- mean_delay_ns    mean delay, ns
-- max_delay_ns     longest delay, ns
-- prompt_launches  number of calls whose work began before the call ended
-- short_launches   number of calls that took longer than the work that they launched
-- long_calls       number of calls longer than `long_call_ns`
-- long_delays      number of delays longer than `long_delay_ns`
CREATE MACRO launch_statistics(
    run := NULL, from_step := NULL, to_step := NULL, long_call_ns := 50000, long_delay_ns := 100000
) AS TABLE
    SELECT
        run_id,
        rank,
        device,
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
    WHERE is_asked(run_id, step, run, from_step, to_step)
    GROUP BY ALL;
