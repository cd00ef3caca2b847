-- Memory in use at any number of moments: `memory_held_at(moments, held)`. Both arguments are names
-- of relations with `run_id`, `source_id` and `device_id`. `moments` also has `ordinal`, like
-- `memory_timeline`. `held` also has `alloc_ordinal` and `free_ordinal`, like `memory_allocations`.
-- One row: a row of `held` that was in use at a moment, with the moment's `ordinal`.
CREATE MACRO memory_held_at(moments, held) AS TABLE
    SELECT moment.ordinal, each.*
    FROM query_table(moments) AS moment
    INNER JOIN query_table(held) AS each
        ON
            moment.run_id = each.run_id
            AND moment.source_id = each.source_id
            AND moment.device_id = each.device_id
            AND moment.ordinal >= coalesce(each.alloc_ordinal, -1)
            AND moment.ordinal < coalesce(each.free_ordinal, 9223372036854775807);
