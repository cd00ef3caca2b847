-- `dispatched(name)`: the trace's name for a kernel call of compiled code, or for a node of a
-- graph: `aten::addmm` for `extern_kernels.addmm` and `aten.addmm.default`. Other names stay.
CREATE MACRO dispatched(name) AS regexp_replace(
    regexp_replace(name, '^extern_kernels\.(bias_)?', 'aten.'),
    '^(?:torch\.ops\.)?(\w+)\.(\w+)(\.\w+)?$', '\1::\2'
);
