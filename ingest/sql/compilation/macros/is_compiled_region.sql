-- `is_compiled_region(name)`: whether an event is an outermost call of code that torch.compile
-- compiled.
CREATE MACRO is_compiled_region(name) AS regexp_matches(
    name, '^(Torch-Compiled Region|CompiledFunction$)'
);
