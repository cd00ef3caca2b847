-- `compared_name(name)`: the name of an operator as two runs have it: without the number of a
-- generated kernel's graph, and without the number of MegEngine's `conv(data,weight)[56]`.
CREATE MACRO compared_name(name) AS regexp_replace(
    generated_kernel(name), '([)}])\[[0-9]+\]$', '\1'
);
