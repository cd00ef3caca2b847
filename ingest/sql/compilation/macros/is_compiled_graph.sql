-- `is_compiled_graph(name)`: whether an event is a call of a graph for which torch.compile
-- generated code. Time in it outside of operators is compiled code, whose kernels are not recorded
-- on a CPU.
CREATE MACRO is_compiled_graph(name) AS regexp_matches(name, '^(## Call )?CompiledFxGraph');
