-- `is_compiled_graph(name)`: whether an event is the call of a graph that torch.compile generated
-- code for. What runs in it outside of operators is compiled code, whose kernels a CPU does not
-- record.
CREATE MACRO is_compiled_graph(name) AS regexp_matches(name, '^(## Call )?CompiledFxGraph');
