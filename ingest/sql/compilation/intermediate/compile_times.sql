-- When compilations ran, from the phases in logs and traces.
-- One row: a compilation with phases; for trace phases without a compilation, an outermost phase.
-- Materialised: several relations read it.
SELECT
    spans.source_id,
    spans.compile_id,
    spans.reset,
    spans.evidence,
    any_value(spans.rank) AS rank,
    min(spans.start_ns) AS start_ns,
    sum(spans.end_ns - spans.start_ns)::BIGINT AS dur_ns,
    list(struct_pack(start_ns := spans.start_ns, end_ns := spans.end_ns)) AS times
FROM compile_spans AS spans
INNER JOIN compile_nest USING (event_id)
WHERE compile_nest.depth = 0
GROUP BY
    spans.source_id, spans.compile_id, spans.reset, spans.evidence,
    CASE WHEN spans.compile_id IS NULL THEN spans.event_id END;
