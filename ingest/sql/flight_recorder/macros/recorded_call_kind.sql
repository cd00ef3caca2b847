-- `recorded_call_kind(profiling_name)`: the kind of a call in the flight recorder. NCCL's barrier
-- is `all_reduce_barrier`. A kind that is not known, such as `coalesced`, is the name without the
-- backend.
CREATE MACRO recorded_call_kind(profiling_name) AS CASE
    WHEN contains(profiling_name, 'barrier') THEN 'barrier'
    ELSE coalesce(
        collective_kind(profiling_name),
        ltrim(regexp_extract(profiling_name, '^(?:\w+:)?(\S*)', 1), '_')
    )
END;
