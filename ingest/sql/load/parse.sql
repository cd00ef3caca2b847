-- Parses one batch of event texts (`pieces`) of source $source_id into `staged`.
--
-- DuckDB reads JSON numbers as doubles. That is exact to the nanosecond below 9e12 µs; beyond it
-- (times since the epoch) the digits of `ts` are taken from the text: of the numbers that stand
-- behind a key of this name, the one that was parsed. Times beyond 3e15 µs (the year 2065) and
-- durations of more than 1e12 µs (eleven days) are none: sums of those below fit a BIGINT.
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
                )[1]
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
    CASE
        WHEN abs(e.ts) < 3e15
            THEN coalesce(
                round(exact_us::DECIMAL(38, 6) * 1000)::BIGINT, round(e.ts * 1000)::BIGINT
            )
    END AS relative_ns,
    CASE WHEN abs(e.dur) < 1e12 THEN round(e.dur * 1000)::BIGINT END AS dur_ns,
    a."Ev Idx" AS event_index,
    a.correlation,
    CASE
        WHEN e.cat IN ('Runtime', 'Kernel', 'Memcpy', 'Memset')  -- 2021 wrote it in lower case
            THEN try_cast(e.args ->> '$."external id"' AS BIGINT)
        ELSE a."External id"
    END AS external_id,
    e.args,
    "offset" AS byte_offset,
    CASE
        WHEN coalesce(e.name, e.ts::VARCHAR) IS NOT NULL AND regexp_matches(e.ph, '^[A-Za-z()]$')
            THEN NULL
        ELSE "offset" + strlen(event)
    END AS rejected_end
FROM parsed;
