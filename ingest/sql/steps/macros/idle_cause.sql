-- The cause of an interval of idle time, from a call of `step_part_rules`.
CREATE MACRO idle_cause(rules) AS
list_last(list_filter(rules, LAMBDA rule: rule.applies)).part;
