-- Parses one batch of event texts (`pieces`) of source $source_id into `staged`.
--
-- DuckDB reads JSON numbers as doubles. That is exact to the nanosecond below 9e12 µs; beyond it
-- (times since the epoch) the digits of `ts` are taken from the text: of the numbers that stand
-- behind a key of this name, the one that was parsed.
INSERT INTO staged
WITH
valid AS (
    SELECT
        ordinal,
        "offset",
        event,
        CASE WHEN json_valid(event) THEN from_json(event, '{
            "ph": "VARCHAR", "cat": "VARCHAR", "name": "VARCHAR", "pid": "VARCHAR",
            "tid": "VARCHAR", "id": "VARCHAR", "ts": "DOUBLE", "dur": "DOUBLE", "args": "JSON"
        }') END AS e
    FROM pieces
),

parsed AS (
    SELECT
        *,
        CASE
            WHEN e.args IS NOT NULL AND json_type(e.args) = 'OBJECT' THEN from_json(e.args, '{
                "Ev Idx": "BIGINT", "correlation": "BIGINT", "External id": "BIGINT"
            }')
        END AS a,
        CASE
            WHEN abs(e.ts) >= 9e12
                THEN list_filter(
                    regexp_extract_all(event, '"ts"\s*:\s*"?(-?[0-9]+(?:\.[0-9]+)?)', 1),
                    LAMBDA digits: abs(try_cast(digits AS DOUBLE) - e.ts) < 1
                )[1]::DECIMAL(38, 6)
        END AS exact_us
    FROM valid
)

SELECT
    $source_id AS source_id,
    ordinal,
    e.ph AS phase,
    e.cat AS category,
    e.name,
    e.pid,
    e.tid,
    e.id,
    coalesce(round(exact_us * 1000)::BIGINT, try_cast(round(e.ts * 1000) AS BIGINT)) AS relative_ns,
    try_cast(round(e.dur * 1000) AS BIGINT) AS dur_ns,
    a."Ev Idx" AS event_index,
    a.correlation,
    CASE
        WHEN e.cat IN ('Runtime', 'Kernel', 'Memcpy', 'Memset')  -- 2021 wrote it in lower case
            THEN try_cast(e.args ->> '$."external id"' AS BIGINT)
        ELSE a."External id"
    END AS external_id,
    e.args,
    "offset" AS byte_offset,
    CASE WHEN e.ph IS NULL THEN "offset" + strlen(event) END AS rejected_end
FROM parsed;
