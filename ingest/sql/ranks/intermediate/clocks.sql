-- The clock of each rank: that of its host, or its own if no file names the host.
-- One row: a rank.
-- Materialised: several relations read it.
SELECT
    rank,
    max(host_name) AS host_name,
    coalesce(max(host_name), concat('rank ', rank)) AS clock
FROM staged_sources
WHERE rank IS NOT NULL
GROUP BY rank;
