-- The parts that a run cannot have, as metrics without a value: `absent_parts(measured)`, where
-- `measured` is `is_of_device` or `is_of_host`. Other parts are null in the list.
CREATE MACRO absent_parts(measured) AS [
    if(
        struct_extract(rule, measured),
        NULL,
        {
            'metric': metric_of_part(rule.part, rule.is_idle),
            'unit': 'ns',
            'value': NULL,
            'is_part': TRUE
        }
    ) FOR rule IN step_part_rules() IF rule.is_idle IS NOT NULL
];
