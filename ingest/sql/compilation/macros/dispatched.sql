-- `dispatched(name)`: the name in a trace of a kernel call of compiled code or of a graph node:
-- `aten::addmm` for `extern_kernels.addmm` and `aten.addmm.default`. Other names are unchanged.
CREATE MACRO dispatched(name) AS regexp_replace(
    regexp_replace(name, '^extern_kernels\.(bias_)?', 'aten.'),
    '^(?:torch\.ops\.)?(\w+)\.(\w+)(\.\w+)?$', '\1::\2'
);
