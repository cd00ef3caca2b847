-- `is_graph_launch(name)`: whether a call launches a recorded graph, which has many kernels.
CREATE MACRO is_graph_launch(name) AS regexp_matches(name, '(?i)GraphLaunch');
