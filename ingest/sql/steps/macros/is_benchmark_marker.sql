-- `is_benchmark_marker(name)`: whether an annotation marks what a benchmark measures. PARAM's
-- markers look like `[param|pytorch.model.alex_net|0|0|0|measure|forward]`.
CREATE MACRO is_benchmark_marker(name) AS regexp_matches(name, '^\[[^\]|]+\|.*\]$');
