-- `compared_name(name)`: the name by which operators of two runs are matched. It leaves out the
-- number of a generated kernel's graph, and the number in MegEngine's `conv(data,weight)[56]`.
CREATE MACRO compared_name(name) AS regexp_replace(
    generated_kernel(name), '([)}])\[[0-9]+\]$', '\1'
);
