-- The parts of a step and the causes of idle time.
-- One row: a part.
--
-- part          name of the part: `host`, `compute`, …
-- ordinal       display order of the parts, from 1
-- label         name of the part in charts
-- is_idle       whether it is a cause of idle time; null for `fill`
-- is_of_device  whether a device can have it
-- is_of_host    whether the host of a run without a device can have it
-- text          meaning of the part
-- remedy        what to try against it; null if it is not a loss
SELECT
    listed.rule.part,
    listed.ordinal,
    listed.rule.label,
    listed.rule.is_idle,
    listed.rule.is_of_device,
    listed.rule.is_of_host,
    listed.rule.text,
    nullif(remedy_text(listed.rule.remedies, []), '') AS remedy
FROM (
    SELECT
        unnest(step_part_rules()) AS rule,
        generate_subscripts(step_part_rules(), 1) AS ordinal
) AS listed;
