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

-- An operator as PyTorch's programs and its operators both name it: `add` for `aten::add_`, for
-- `operator.iadd` and for `+`; `to` for `aten::to` and for `.float()`.
CREATE MACRO short_op(name) AS CASE regexp_extract(name, '([^.:]*?)_*$', 1)
    WHEN 'truediv' THEN 'div'
    WHEN 'itruediv' THEN 'div'
    WHEN 'iadd' THEN 'add'
    WHEN 'isub' THEN 'sub'
    WHEN 'imul' THEN 'mul'
    WHEN 'float' THEN 'to'
    WHEN 'double' THEN 'to'
    WHEN 'half' THEN 'to'
    WHEN 'bfloat16' THEN 'to'
    WHEN 'long' THEN 'to'
    WHEN 'int' THEN 'to'
    WHEN 'bool' THEN 'to'
    WHEN 'type' THEN 'to'
    WHEN 'type_as' THEN 'to'
    WHEN 'cuda' THEN 'to'
    WHEN '' THEN name
    ELSE regexp_extract(name, '([^.:]*?)_*$', 1)
END;
-- What a kernel call of generated code, or a node of a graph, is called in a trace:
-- `extern_kernels.addmm` and `aten.addmm.default` as `aten::addmm`. Other names stay.
CREATE MACRO dispatched(name) AS regexp_replace(
    regexp_replace(name, '^extern_kernels\.(bias_)?', 'aten.'),
    '^(?:torch\.ops\.)?(\w+)\.(\w+)(\.\w+)?$', '\1::\2'
);

-- The kernel of generated code that a trace's event names: `graph_0_cpp_fused_silu_1`.
CREATE MACRO generated_kernel(name) AS regexp_replace(name, '^graph_[0-9]+_', '');
-- A call of a graph that torch.compile generated code for. What runs in it outside of operators is
-- generated code, whose kernels on a CPU are not recorded by themselves.
CREATE MACRO is_compiled_graph(name) AS regexp_matches(name, '^(## Call )?CompiledFxGraph');

-- Annotations that torch itself makes, by data loaders, optimizers, DDP, collectives and compilers:
-- none is the user's name for a step.
CREATE MACRO is_torch_label(name) AS is_wrapper(name) OR is_compilation(name)
OR is_data_loader(name) OR regexp_matches(name, concat(
    '^(Optimizer\.|DistributedDataParallel\.|FSDP::|FullyShardedDataParallel\.|nccl:|gloo:|mpi:|',
    'c10d::|record_param_comms)|compile_id='
));

-- A frame for people: function, file and line; of installed packages the path inside of them.
CREATE MACRO frame_label(function, file, line) AS nullif(concat(
    function,
    ' (' || regexp_replace(file, '^(?:.*[/\\])?(?:site|dist)-packages[/\\]', '')
    || coalesce(':' || line, '') || ')'
), '');
