-- Clocks of the ranks: how far each is ahead of its reference clock, computed from the ends of
-- matched collectives. The ranks of a host share a clock. The reference is the clock of the lowest
-- rank among those that collectives connect, directly or through other ranks. Corrected times are
-- recorded times minus `clock_offset`. Only those with the same reference can be compared.
-- One row: a rank.
-- Materialised: several relations read it.
--
-- run_id, rank
-- host_name           host of the rank; null if not recorded, then the rank has its own clock
-- reference_rank
-- is_reference        whether the rank is on the reference clock
-- collectives         number of collectives that set the clock; null for the reference
-- middle_ns           Unix time of their middle, ns; null for the reference
-- offset_ns           how far the clock is ahead at that time, ns; 0 for the reference
-- drift_ppm           by how much the clock is faster, 10⁻⁶; null if it is not significant
-- deviation_ns        standard deviation of the differences of ends from the offset, estimated from
--                     their median absolute deviation, ns
-- uncertainty_ns      uncertainty of the offset at that time, ns: three standard errors; null if
--                     fewer than three collectives set the clock
-- uncertainty_ppm     by how much the uncertainty grows with the distance from that time, 10⁻⁶
SELECT
    clocks.rank,
    clocks.host_name,
    coalesce(
        lines.reference_rank, min(clocks.rank) OVER (PARTITION BY clocks.clock)
    ) AS reference_rank,
    lines.collectives IS NULL AS is_reference,
    lines.collectives,
    lines.zero_ns + round(lines.middle_ns)::BIGINT AS middle_ns,
    if(is_reference, 0, round(lines.offset_ns))::BIGINT AS offset_ns,
    nullif(lines.slope, 0) * 1e6 AS drift_ppm,
    if(is_reference, NULL, ceil(lines.deviation_ns))::BIGINT AS deviation_ns,
    if(is_reference, 0, ceil(lines.uncertainty_ns))::BIGINT AS uncertainty_ns,
    if(is_reference, 0, lines.uncertainty_slope * 1e6) AS uncertainty_ppm
FROM clocks
LEFT JOIN clock_lines AS lines ON clocks.clock = lines.clock
ORDER BY clocks.rank;
