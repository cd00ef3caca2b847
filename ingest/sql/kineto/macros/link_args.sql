-- `link_args(correlation, external_id)`: the numbers that link events, as the profiler writes them
-- into the arguments of an event (JSON).
CREATE MACRO link_args(correlation, external_id) AS json_merge_patch('{}', json_object(
    'correlation', correlation, 'External id', external_id
));
