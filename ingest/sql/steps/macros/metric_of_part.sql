-- The name of a part of a step among the metrics of a run: `idle_host` for the cause `host`.
CREATE MACRO metric_of_part(part, is_idle) AS if(is_idle, 'idle_', '') || part;
