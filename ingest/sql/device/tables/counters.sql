-- Counters of the profiles: values that a profiler sampled over time, or measured during a kernel.
-- One row: a value of a counter.
--
-- run_id, source_id, rank
-- event_id   the event that has the value: the measurement (`events.event_id`), or the sample in a
--            trace (`other_events.event_id`); null if the file has no events for its counters
-- device_id
-- device     number of the device; null for a counter of the host, or if the file names no device
-- track      name of the counter's track, or of the measured kernel
-- counter    name of the counter
-- start_ns   Unix time of the value, ns
-- dur_ns     duration of the measurement, ns; null if the value holds until the next one of its
--            counter
-- value      value of the counter, in its own unit
SELECT
    counters.source_id,
    sources.rank,
    counters.event_id,
    device_id_of(sources.rank, counters.device) AS device_id,
    counters.device,
    counters.track,
    counters.counter,
    sources.base_ns + counters.relative_ns AS start_ns,
    counters.dur_ns,
    counters.value
FROM staged_counters AS counters
INNER JOIN staged_sources AS sources USING (source_id)
ORDER BY counters.source_id, counters.relative_ns, counters.event_id, counters.counter;
