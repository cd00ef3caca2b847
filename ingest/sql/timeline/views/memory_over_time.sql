-- Peak memory of a device in equal intervals: `memory_over_time(run, of_rank, of_device, since_ns,
-- until_ns, bins)`, with times in Unix ns. `of_device` is null for the host.
-- One row: an interval with a known value.
--
-- bin, start_ns, end_ns
-- used_bytes  the most memory in use in the interval (`memory_timeline.used_bytes`), in any file
CREATE MACRO memory_over_time(run, of_rank, of_device, since_ns, until_ns, bins) AS TABLE
    WITH
    moments AS (
        SELECT
            source_id,
            greatest(time_ns, since_ns::BIGINT) AS time_ns,
            ordinal,
            used_bytes,
            greatest(1, ceil((until_ns::BIGINT - since_ns::BIGINT) / bins))::BIGINT AS bin_ns
        FROM memory_timeline
        WHERE
            run_id = run
            AND device_id = device_id_of(of_rank, of_device)
            AND time_ns < until_ns
            AND used_bytes IS NOT NULL
    ),

    found AS (
        SELECT
            source_id,
            (time_ns - since_ns::BIGINT) // bin_ns AS bin,
            any_value(bin_ns) AS bin_ns,
            max(used_bytes) AS most_bytes,
            arg_max(used_bytes, (time_ns, ordinal)) AS last_bytes
        FROM moments
        GROUP BY source_id, bin
    ),

    filled AS (
        SELECT
            *,
            lag(last_bytes) OVER in_file AS before_bytes,
            lead(bin, 1, bins::BIGINT) OVER in_file AS next_bin
        FROM found
        WINDOW in_file AS (PARTITION BY source_id ORDER BY bin)
    ),

    -- A value holds until the next one.
    in_bins AS (
        SELECT bin, bin_ns, greatest(most_bytes, before_bytes) AS used_bytes FROM filled
        UNION ALL
        SELECT unnest(range(bin + 1, next_bin)) AS bin, bin_ns, last_bytes AS used_bytes FROM filled
    )

    SELECT
        bin,
        since_ns::BIGINT + bin * any_value(bin_ns) AS start_ns,
        since_ns::BIGINT + (bin + 1) * any_value(bin_ns) AS end_ns,
        max(used_bytes) AS used_bytes
    FROM in_bins
    GROUP BY bin;
