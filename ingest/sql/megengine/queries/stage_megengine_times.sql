-- Extracts the times of source $source_id from `staged_megengine` to `staged_megengine_times`.
--
-- `kern` is -1 if an operator launched nothing. MegEngine writes `inf` and `nan` as strings.
INSERT INTO staged_megengine_times BY NAME
WITH times AS (
    SELECT
        section,
        ordinal,
        key,
        unnest(map_entries(try_cast(value AS MAP (VARCHAR, JSON)))) AS time
    FROM staged_megengine
    WHERE
        source_id = $source_id
        AND section IN ('host', 'device')
        AND json_type(value) = 'OBJECT'
)

SELECT
    $source_id AS source_id,
    row_number() OVER (ORDER BY section DESC, ordinal, time.key) - 1 AS ordinal,
    section = 'device' AS is_device,
    key AS opr_key,
    time.key AS lane_name,
    try_cast(time.value ->> '$.start' AS DOUBLE) AS start_s,
    nullif(try_cast(time.value ->> '$.kern' AS DOUBLE), -1) AS kern_s,
    try_cast(time.value ->> '$.end' AS DOUBLE) AS end_s
FROM times;
