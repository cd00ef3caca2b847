-- Compiled regions of a trace, with the compilation that generated each.
-- One row: a `Torch-Compiled Region`.
-- Materialised: an ASOF join and `overlapping` read it.
SELECT
    source_id,
    rank,
    lane,
    start_ns,
    end_ns,
    start_ns AS nesting_order,
    regexp_extract(name, '^Torch-Compiled Region: (\S+)', 1) AS compile_id
FROM complete
WHERE category IN ('cpu_op', 'user_annotation') AND starts_with(name, 'Torch-Compiled Region: ');
