-- `is_benchmark_marker(name)`: whether an annotation says what a benchmark measures, as PARAM's
-- `[param|pytorch.model.alex_net|0|0|0|measure|forward]` do.
CREATE MACRO is_benchmark_marker(name) AS regexp_matches(name, '^\[[^\]|]+\|.*\]$');
