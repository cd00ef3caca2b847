-- `clock_offset(clock, at_ns)`: how far a clock is ahead of the reference clock at a time, ns, from
-- a row of `rank_clocks`. Null if unknown.
CREATE MACRO clock_offset(clock, at_ns) AS try_cast(round(
    clock.offset_ns + coalesce(clock.drift_ppm * 1e-6 * (at_ns - clock.middle_ns), 0)
) AS BIGINT);
