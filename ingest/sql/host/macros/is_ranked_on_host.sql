-- `is_ranked_on_host(category, name)`: whether an event is an operator, or a call of a graph for
-- which torch.compile generated code. The rankings of a host count these.
CREATE MACRO is_ranked_on_host(category, name) AS category = 'cpu_op' OR is_compiled_graph(name);
