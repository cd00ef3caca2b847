-- Parses one batch of event texts (`pieces`) of source $source_id into `staged`. If
-- $has_literal_backslashes, a backslash stands for itself unless a quote follows it.
--
-- DuckDB reads JSON numbers as doubles. Below 2⁴³ µs, a double resolves single nanoseconds. For
-- larger values (times since the epoch), the digits of `ts` are taken from the text. The text may
-- have several keys `ts`, for example in the arguments. The one whose number is less than 1 µs from
-- the parsed number counts. Times beyond 3e15 µs (the year 2065) and durations of more than 1e12 µs
-- (eleven days) are invalid, so that sums of valid ones fit a BIGINT.
--
-- Fields of a complete event that have no column are added to its arguments, as `event`. For any
-- other event, the entire text replaces the arguments. The profiler's Python frames, which are most
-- of a large trace, have only fields with a column, so they are not searched for others. If a key
-- occurs twice, the first counts.
INSERT INTO staged
WITH
escaped AS (
    SELECT
        ordinal,
        from_byte,
        to_byte,
        if(
            $has_literal_backslashes,
            replace(replace(event, '\', '\\'), '\\"', '\"'),
            event
        ) AS event
    FROM pieces
),

parsed AS (
    SELECT
        ordinal,
        from_byte,
        to_byte,
        event,
        try(from_json(event, '{
            "ph": "VARCHAR", "cat": "VARCHAR", "name": "VARCHAR", "pid": "VARCHAR",
            "tid": "VARCHAR", "id": "VARCHAR", "ts": "DOUBLE", "dur": "DOUBLE", "args": "JSON"
        }')) AS e
    FROM escaped
),

timed AS (
    SELECT
        ordinal,
        from_byte,
        to_byte,
        event,
        e.ph AS phase,
        nullif(e.cat, '') AS recorded_category,
        category_today(recorded_category, e.name) AS category,
        e.name,
        e.pid,
        e.tid,
        e.id,
        e.args::VARCHAR AS args,
        coalesce(e.name, e.ts::VARCHAR) IS NOT NULL
        AND length(e.ph) = 1 AND (e.ph BETWEEN 'A' AND 'z' OR e.ph IN ('(', ')')) AS is_event,
        CASE
            WHEN abs(e.ts) >= 8_796_093_022_208  -- 2⁴³
                THEN list_filter(
                    regexp_extract_all(event, '"ts"\s*:\s*"?(-?[0-9]+(?:\.[0-9]+)?)', 1),
                    LAMBDA digits: abs(try_cast(digits AS DOUBLE) - e.ts) < 1
                )[1]
        END AS exact_us,
        CASE
            WHEN abs(e.ts) < 3e15
                THEN coalesce(
                    round(exact_us::DECIMAL(38, 6) * 1000)::BIGINT, us_to_ns(e.ts)
                )
        END AS relative_ns,
        CASE WHEN abs(e.dur) < 1e12 THEN us_to_ns(e.dur) END AS dur_ns
    FROM parsed
),

detailed AS (
    SELECT
        *,
        is_event AND phase = 'X' AND name IS NOT NULL AND relative_ns IS NOT NULL AND dur_ns >= 0
            AS is_complete,
        CASE WHEN args[1] = '{' THEN from_json(args, '{
            "Ev Idx": "BIGINT", "correlation": "BIGINT", "External id": "BIGINT"
        }') END AS a,
        CASE
            WHEN
                is_complete
                AND (category IS DISTINCT FROM 'python_function')
                -- Most events have these eight fields and no others. That is cheaper to check.
                AND (
                    len(json_keys(event)) <> 8
                    OR recorded_category IS NULL
                    OR pid IS NULL
                    OR tid IS NULL
                    OR args IS NULL
                )
                AND NOT list_has_all(
                    ['ph', 'cat', 'name', 'pid', 'tid', 'ts', 'dur', 'args'], json_keys(event)
                )
                THEN json_merge_patch(event, '{
                    "ph": null, "cat": null, "name": null, "pid": null, "tid": null, "ts": null,
                    "dur": null, "args": null
                }')::VARCHAR
        END AS more
    FROM timed
)

SELECT
    $source_id AS source_id,
    id_in_run($source_id, ordinal) AS event_id,
    CASE WHEN is_event THEN phase END AS phase,
    CASE WHEN is_complete THEN side(category) END AS side,
    category,
    CASE WHEN category <> recorded_category THEN recorded_category END AS older_category,
    name,
    pid,
    tid,
    id,
    relative_ns,
    dur_ns,
    a."Ev Idx" AS event_index,
    a.correlation,
    CASE
        WHEN recorded_category IN ('Runtime', 'Kernel', 'Memcpy', 'Memset')
            THEN try_cast(args::JSON ->> '$."external id"' AS BIGINT)  -- the name in traces of 2021
        ELSE a."External id"
    END AS external_id,
    CASE
        WHEN is_event IS NOT TRUE
            THEN json_object('from_byte', from_byte, 'to_byte', to_byte)
        WHEN category = 'python_function' AND is_complete THEN args
        WHEN is_complete IS NOT TRUE THEN finite_json(json(event))
        WHEN more IS NULL THEN finite_json(args)
        WHEN args[1] = '{' AND args <> '{}'
            THEN finite_json(concat('{"event":', more, ',', args[2:]))
        ELSE finite_json(concat('{"event":', more, ',"args":', coalesce(args, 'null'), '}'))
    END AS args
FROM detailed;
