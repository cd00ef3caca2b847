-- The list of `step_part_rules` as a relation, for joins.
-- One row: a part.
SELECT
    listed.rule.part,
    listed.ordinal,
    listed.rule.is_idle,
    listed.rule.is_of_device,
    listed.rule.is_of_host
FROM (
    SELECT
        unnest(step_part_rules()) AS rule,
        generate_subscripts(step_part_rules(), 1) AS ordinal
) AS listed;
