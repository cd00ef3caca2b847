-- `is_wait(name)`: whether the host waits for the device in a call of CUDA, HIP or MTIA. Copies
-- without Async in their name block.
CREATE MACRO is_wait(name) AS regexp_matches(name, concat(
    '^(cuda|hip)(Stream|Device|Event)Synchronize(_spt)?$|^cu(Stream|Ctx|Event)Synchronize$|',
    '^(cuda|hip)Memcpy(2D|3D|Peer|WithStream|ToSymbol|FromSymbol)?$|^cuMemcpy(HtoD|DtoH|DtoD)_v2$|',
    '^synchronize(Stream)?$|^aten::(item|_local_scalar_dense)$'
));
