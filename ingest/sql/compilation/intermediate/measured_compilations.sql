-- Compilations inside the measured steps of a rank. A rank is left out if they are unknown: its
-- operators were not recorded, or one of its compilations has no known time.
-- One row: a rank.
WITH ranks AS (
    SELECT rank FROM outermost_ops
    UNION
    SELECT rank FROM compilations
)

SELECT
    ranks.rank,
    count(*) FILTER (WHERE known.is_in_measured_step) AS compilations,
    count(*) FILTER (WHERE known.is_in_measured_step AND known.is_recompile) AS recompiles,
    coalesce(sum(known.dur_ns) FILTER (WHERE known.is_in_measured_step), 0)::BIGINT AS compile_ns
FROM ranks
LEFT JOIN compilations AS known ON ranks.rank = known.rank
GROUP BY ranks.rank
HAVING count(*) FILTER (WHERE known.rank IS NOT NULL AND known.is_in_measured_step IS NULL) = 0;
