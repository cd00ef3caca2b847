-- What names mean. Patterns stand here once; everything else asks these macros.

-- Operators that only wrap others.
CREATE MACRO is_wrapper(name) AS regexp_matches(name, concat(
    '^(Torch-Compiled Region|CompiledFunction|CompiledFxGraph|## Call CompiledFxGraph|',
    'TorchDynamo |autograd::engine::evaluate_function|ProfilerStep)'
));

-- Kernels that move data between ranks, symmetric-memory kernels among them.
CREATE MACRO is_communication(name) AS regexp_matches(name, concat(
    '(?i)nccl|rccl|hccl|oneccl|nvshmem|cross_device_reduce|multimem_|',
    '(one|two)_shot_all_(reduce|gather)|lamport'
));

-- Launches of a recorded graph: one call owns many kernels.
CREATE MACRO is_graph_launch(name) AS regexp_matches(name, '(?i)GraphLaunch');

-- Calls in which the host waits for the device, MTIA's among them. A copy without Async in its
-- name blocks.
CREATE MACRO is_wait(name) AS regexp_matches(name, concat(
    '^(cuda|hip)(Stream|Device|Event)Synchronize(_spt)?$|^cu(Stream|Ctx|Event)Synchronize$|',
    '^(cuda|hip)Memcpy(2D|3D|Peer|WithStream|ToSymbol|FromSymbol)?$|^cuMemcpy(HtoD|DtoH|DtoD)_v2$|',
    '^synchronize(Stream)?$|^aten::(item|_local_scalar_dense)$'
));

-- Operators of a data loader.
CREATE MACRO is_data_loader(name) AS regexp_matches(
    name, '^enumerate\(DataLoader\)|DataLoaderIter\.__next__|DataPipe.*__next__'
);

-- Phases of torch.compile, which appear as operators while a model is compiled.
CREATE MACRO is_compilation(name) AS regexp_matches(name, concat(
    '\(dynamo_timed\)$|^(dynamo|entire_frame_compile|backend_compile|compile_file|',
    'inductor_compile|compile_fx.*|_compile\.compile_inner|create_aot_dispatcher_function)$'
));
