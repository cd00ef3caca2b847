-- The boxes of a flame graph: `flame_graph(calls, from_id, most)`. `calls` names a relation with a row
-- for each call: id, caller_id (null for the outermost), name, value (what it took itself) and
-- base_value (the same in another run; null without one). A value below 0 counts as 0. The graph
-- shows what is inside the call `from_id`; all where that is null. It shows `most` boxes, the largest.
-- One row: a call, or all calls directly inside one that are not shown.
--
-- id           the call; null for calls that are not shown
-- caller_id    the call around it (`flame_graph.id`); null for the outermost
-- name         its name; `(other)` for calls that are not shown
-- height       calls inside it, at the deepest place; null for calls that are not shown
-- self_value   what it took itself; null for calls that are not shown
-- total_value  the same with the calls inside it
-- base_total   the same in the other run; null without one
-- width        its share of the graph: `total_value`, and of two runs the sum of the larger value of
--              each call inside
CREATE MACRO flame_graph(calls, from_id := NULL, most := 500) AS TABLE
    WITH RECURSIVE
    given AS MATERIALIZED (
        SELECT
            id,
            any_value(caller_id) AS caller_id,
            min(name) AS name,
            greatest(coalesce(sum(value), 0), 0)::DOUBLE AS self_value,
            greatest(sum(base_value), 0)::DOUBLE AS base_value
        FROM query_table(calls)
        GROUP BY id
    ),

    -- What a call took counts in all those around it. Calls as high as each other go up together.
    sums AS (
        SELECT
            id,
            0 AS height,
            self_value AS total_value,
            base_value AS base_total,
            greatest(self_value, coalesce(base_value, 0)) AS width
        FROM given
        UNION ALL
        SELECT
            given.caller_id AS id,
            sums.height + 1 AS height,
            sum(sums.total_value) AS total_value,
            sum(sums.base_total) AS base_total,
            sum(sums.width) AS width
        FROM sums
        INNER JOIN given ON sums.id = given.id
        WHERE given.caller_id IS NOT NULL
        GROUP BY given.caller_id, sums.height
    ),

    totals AS MATERIALIZED (
        SELECT
            given.id,
            if(given.id = from_id, NULL, given.caller_id) AS caller_id,
            given.name,
            max(sums.height) AS height,
            given.self_value,
            sum(sums.total_value) AS total_value,
            sum(sums.base_total) AS base_total,
            sum(sums.width) AS width
        FROM sums
        INNER JOIN given ON sums.id = given.id
        GROUP BY given.id, given.caller_id, given.name, given.self_value, given.base_value
        HAVING sum(sums.width) > 0
    ),

    inside AS (
        SELECT id FROM totals
        WHERE id = from_id
        UNION ALL
        SELECT totals.id FROM totals
        INNER JOIN inside ON totals.caller_id = inside.id
    ),

    shown AS MATERIALIZED (
        SELECT * FROM totals
        WHERE from_id IS NULL OR id IN (FROM inside)
        ORDER BY width DESC, height DESC, id
        LIMIT most
    ),

    SELECT id, caller_id, name, height, self_value, total_value, base_total, width
    FROM shown
    UNION ALL
    SELECT
        NULL AS id,
        totals.caller_id,
        '(other)' AS name,
        NULL AS height,
        NULL AS self_value,
        sum(totals.total_value) AS total_value,
        sum(totals.base_total) AS base_total,
        sum(totals.width) AS width
    FROM totals
    ANTI JOIN shown ON totals.id = shown.id
    WHERE
        totals.caller_id IN (SELECT shown.id FROM shown)
        OR (totals.caller_id IS NULL AND from_id IS NULL)
    GROUP BY totals.caller_id;
