-- The boxes of a flame graph: `flame_graph(calls, from_id, most)`. `calls` names a relation with
-- one row per call and the columns id, caller_id, name, category, value (a quantity of the call
-- without the calls inside it, such as its self time) and base_value (the same quantity in another
-- run, or null). Negative values count as 0. A call whose caller is not in the relation is
-- outermost. The graph shows the calls inside `from_id`, or all calls if `from_id` is null. The
-- `most` largest calls have a box each. The other calls directly inside a call share one box.
-- One row: a call, or all calls directly inside one call that have no box of their own.
--
-- id           the call; null for `(other)`
-- caller_id    the caller (`flame_graph.id`); null for outermost calls
-- name         name of the call; `(other)` for the calls that share a box
-- category     category of the call, as in `calls`; null for `(other)`
-- height       number of levels of calls below it; null for `(other)`
-- self_value   value of the call, without the calls inside it; null for `(other)`
-- self_base    value of the call in the other run, without the calls inside it
-- total_value  value of the call and of the calls inside it
-- total_base   value of the call and of the calls inside it in the other run
-- width        width of the box: `total_value`; with two runs, the sum over the calls inside of the
--              larger value of each
CREATE MACRO flame_graph(calls, from_id := NULL, most := 500) AS TABLE
    WITH RECURSIVE
    merged AS MATERIALIZED (
        SELECT
            id,
            any_value(caller_id) FILTER (
                WHERE caller_id IN (SELECT caller.id FROM query_table(calls) AS caller)
            ) AS caller_id,
            min(name) AS name,
            any_value(category) AS category,
            greatest(coalesce(sum(value), 0), 0)::DOUBLE AS self_value,
            if(count(base_value) > 0, greatest(sum(base_value), 0), NULL)::DOUBLE
                AS self_base,
            greatest(self_value, coalesce(self_base, 0)) AS width
        FROM query_table(calls)
        GROUP BY id
    ),

    -- The value of a call counts in all its callers. Calls of equal height are added in one step.
    sums AS (
        SELECT id, 0 AS height, self_value AS total_value, self_base AS total_base, width
        FROM merged
        UNION ALL
        SELECT
            merged.caller_id AS id,
            sums.height + 1 AS height,
            sum(sums.total_value) AS total_value,
            sum(sums.total_base) AS total_base,
            sum(sums.width) AS width
        FROM sums
        INNER JOIN merged ON sums.id = merged.id
        WHERE merged.caller_id IS NOT NULL
        GROUP BY merged.caller_id, sums.height
    ),

    totals AS MATERIALIZED (
        SELECT
            merged.id,
            if(merged.id = from_id, NULL, merged.caller_id) AS caller_id,
            merged.name,
            merged.category,
            max(sums.height) AS height,
            merged.self_value,
            merged.self_base,
            sum(sums.total_value) AS total_value,
            sum(sums.total_base) AS total_base,
            sum(sums.width) AS width
        FROM sums
        INNER JOIN merged ON sums.id = merged.id
        GROUP BY ALL
        HAVING sum(sums.width) > 0
    ),

    inside AS (
        SELECT totals.id FROM totals
        WHERE totals.id = from_id
        UNION ALL
        SELECT totals.id FROM totals
        INNER JOIN inside ON totals.caller_id = inside.id
    ),

    shown AS MATERIALIZED (
        SELECT * FROM totals
        WHERE from_id IS NULL OR id IN (SELECT inside.id FROM inside)
        ORDER BY width DESC, height DESC, id
        LIMIT most
    )

    FROM shown
    UNION ALL BY NAME
    SELECT
        totals.caller_id,
        '(other)' AS name,
        sum(totals.total_value) AS total_value,
        sum(totals.total_base) AS total_base,
        sum(totals.width) AS width
    FROM totals
    ANTI JOIN shown ON totals.id = shown.id
    WHERE
        totals.caller_id IN (SELECT around.id FROM shown AS around)
        OR (totals.caller_id IS NULL AND from_id IS NULL)
    GROUP BY totals.caller_id;
