-- The boxes of a flame graph: `flame_graph(calls, from_id, most)`. `calls` names a relation with a
-- row for each call: id, caller_id, name, category, value (what it took itself) and base_value (the
-- same in another run, or null). A value below 0 counts as 0. A call whose caller is not in the
-- relation is an outermost one. The graph shows what is inside the call `from_id`, or all where
-- that is null: the `most` largest boxes, and the others in one box for each call.
-- One row: a call, or all calls directly inside one that are not shown.
--
-- id           the call; null for `(other)`
-- caller_id    the call around it (`flame_graph.id`); null for the outermost
-- name         its name; `(other)` for the calls that are not shown
-- category     as in `calls`; null for `(other)`
-- height       levels of calls below it; null for `(other)`
-- self_value   what it took itself; null for `(other)`
-- self_base    the same in the other run
-- total_value  what it took with the calls inside it
-- total_base   the same in the other run
-- width        how wide the box is: `total_value`; of two runs, the larger value of each call
--              inside, added up
CREATE MACRO flame_graph(calls, from_id := NULL, most := 500) AS TABLE
    WITH RECURSIVE
    given AS MATERIALIZED (
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

    -- What a call took counts in all those around it. Calls as high as each other go up together.
    sums AS (
        SELECT id, 0 AS height, self_value AS total_value, self_base AS total_base, width
        FROM given
        UNION ALL
        SELECT
            given.caller_id AS id,
            sums.height + 1 AS height,
            sum(sums.total_value) AS total_value,
            sum(sums.total_base) AS total_base,
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
            given.category,
            max(sums.height) AS height,
            given.self_value,
            given.self_base,
            sum(sums.total_value) AS total_value,
            sum(sums.total_base) AS total_base,
            sum(sums.width) AS width
        FROM sums
        INNER JOIN given ON sums.id = given.id
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
