-- What a run can still try against each cause of idle time.
-- One row: a cause of idle time of a run.
--
-- run_id
-- cause   the cause, as in `bubbles`
-- remedy  what to try, without what the run already uses (`run_features`)
SELECT
    used.run_id,
    listed.rule.part AS cause,
    remedy_text(listed.rule.remedies, used.features) AS remedy
FROM run_features AS used
CROSS JOIN (SELECT unnest(step_part_rules()) AS rule) AS listed
WHERE listed.rule.is_idle;
