-- Adds the counters of source $source_id to `staged_counters`: samples over time (events of phase
-- C), and what CUPTI measured for kernels (category `cuda_profiler_range`). Counters of an earlier
-- export of tracehouse are left out.
INSERT INTO staged_counters BY NAME
WITH
recorded AS (
    SELECT
        event_id,
        name,
        relative_ns,
        CASE WHEN side IS NOT NULL THEN dur_ns END AS dur_ns,
        if(side IS NOT NULL, args, json_extract(args, '$.args')) AS counted
    FROM staged
    WHERE
        source_id = $source_id
        AND if(
            side IS NULL,
            phase = 'C' AND category IS DISTINCT FROM 'tracehouse',
            category = 'cuda_profiler_range'
        )
        AND relative_ns IS NOT NULL
),

found AS (
    SELECT
        recorded.*,
        each.key AS counter,
        try_cast(json_extract_string(each.value, '$') AS DOUBLE) AS value
    FROM recorded, json_each(if(json_type(counted) = 'OBJECT', counted, '{}')) AS each
)

SELECT
    $source_id AS source_id,
    event_id,
    name AS track,
    counter,
    relative_ns,
    dur_ns,
    value
FROM found
WHERE value IS NOT NULL;
