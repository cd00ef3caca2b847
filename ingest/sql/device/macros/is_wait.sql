-- `is_wait(name)`: whether the host waits for the device in a call of CUDA, or in one of another
-- accelerator that differs only in its prefix. Copies without Async in their name block.
CREATE MACRO is_wait(name) AS regexp_matches(name, concat(
    '^[a-z]+(Stream|Device|Ctx|Event)Synchronize(_spt)?$|',
    '^[a-z]+Memcpy(2D|3D|Peer|WithStream|ToSymbol|FromSymbol)?$|^cuMemcpy(HtoD|DtoH|DtoD)_v2$|',
    '^synchronize(Stream)?$|^aten::(item|_local_scalar_dense)$'
));
