-- `compared_name(name)`: the name of an operator as two runs have it: without the number of a
-- generated kernel's graph, and without the number that MegEngine ends names with.
CREATE MACRO compared_name(name) AS regexp_replace(generated_kernel(name), '\[[0-9]+\]$', '');
