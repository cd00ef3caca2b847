-- How far each clock is ahead of its reference clock: that of the lowest rank whose clock
-- collectives connect with it.
-- One row: a clock that collectives connect with another one, as in `clock_pairs`.
-- Materialised: it is joined, and DuckDB then knows its size.
--
-- Clocks without a common collective are connected through others, by as few as possible.
WITH RECURSIVE
ranked AS (
    SELECT clock, min(rank) AS lowest_rank
    FROM clocks
    WHERE clock IN (SELECT unnest([from_clock, to_clock]) FROM clock_pairs)
    GROUP BY clock
),

edges AS (
    SELECT
        from_clock,
        to_clock,
        middle_ns,
        offset_ns,
        slope,
        deviation_ns,
        collectives,
        uncertainty_ns,
        uncertainty_slope
    FROM clock_pairs
    UNION ALL
    SELECT
        to_clock AS from_clock,
        from_clock AS to_clock,
        middle_ns,
        -offset_ns AS offset_ns,
        -slope AS slope,
        deviation_ns,
        collectives,
        uncertainty_ns,
        uncertainty_slope
    FROM clock_pairs
),

-- A reference clock has no neighbour with a lower rank.
reached AS (
    SELECT clock AS from_clock, lowest_rank, clock
    FROM ranked
    WHERE
        NOT EXISTS (
            SELECT 1
            FROM edges
            INNER JOIN ranked AS neighbour ON edges.to_clock = neighbour.clock
            WHERE
                edges.from_clock = ranked.clock
                AND neighbour.lowest_rank < ranked.lowest_rank
        )
    UNION
    SELECT reached.from_clock, reached.lowest_rank, edges.to_clock AS clock
    FROM reached
    INNER JOIN edges ON reached.clock = edges.from_clock
),

references_of AS (
    SELECT
        clock,
        arg_min(from_clock, lowest_rank) AS reference_clock,
        min(lowest_rank) AS reference_rank
    FROM reached
    GROUP BY clock
),

hops AS (
    SELECT clock, 0 AS hop FROM references_of WHERE clock = reference_clock
    UNION
    SELECT edges.to_clock AS clock, hops.hop + 1 AS hop
    FROM hops
    INNER JOIN edges ON hops.clock = edges.from_clock
    WHERE hops.hop < 100
),

levels AS (SELECT clock, min(hop) AS hop FROM hops GROUP BY clock),

parents AS (
    SELECT
        edges.to_clock AS clock,
        arg_min(edges, (edges.uncertainty_ns, edges.from_clock)) AS edge
    FROM edges
    INNER JOIN levels AS here ON edges.to_clock = here.clock
    INNER JOIN levels AS above ON edges.from_clock = above.clock
    WHERE here.hop = above.hop + 1
    GROUP BY edges.to_clock
),

lines AS (
    SELECT
        clock,
        reference_rank,
        NULL::DOUBLE AS middle_ns,
        0::DOUBLE AS offset_ns,
        0::DOUBLE AS slope,
        0::DOUBLE AS deviation_ns,
        NULL::BIGINT AS collectives,
        0::DOUBLE AS uncertainty_ns,
        0::DOUBLE AS uncertainty_slope
    FROM references_of
    WHERE clock = reference_clock
    UNION ALL
    SELECT
        parents.clock,
        lines.reference_rank,
        parents.edge.middle_ns,
        parents.edge.offset_ns
        + lines.offset_ns
        + lines.slope * (parents.edge.middle_ns - coalesce(lines.middle_ns, 0)) AS offset_ns,
        parents.edge.slope + lines.slope AS slope,
        greatest(parents.edge.deviation_ns, lines.deviation_ns) AS deviation_ns,
        least(parents.edge.collectives, lines.collectives) AS collectives,
        sqrt(pow(parents.edge.uncertainty_ns, 2) + pow(lines.uncertainty_ns, 2)) AS uncertainty_ns,
        sqrt(pow(parents.edge.uncertainty_slope, 2) + pow(lines.uncertainty_slope, 2))
            AS uncertainty_slope
    FROM lines
    INNER JOIN parents ON lines.clock = parents.edge.from_clock
)

SELECT lines.*, pairs.zero_ns
FROM lines
CROSS JOIN (SELECT min(zero_ns) AS zero_ns FROM clock_pairs) AS pairs
WHERE EXISTS (SELECT 1 FROM clock_pairs);
