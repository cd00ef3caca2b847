-- `clock_uncertainty(clock, at_ns)`: the uncertainty of `clock_offset`, ns. Null if unknown.
CREATE MACRO clock_uncertainty(clock, at_ns) AS try_cast(ceil(sqrt(
    pow(clock.uncertainty_ns, 2)
    + coalesce(pow(clock.uncertainty_ppm * 1e-6 * (at_ns - clock.middle_ns), 2), 0)
)) AS BIGINT);
