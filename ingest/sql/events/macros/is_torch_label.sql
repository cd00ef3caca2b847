-- `is_torch_label(name)`: whether torch itself made an annotation, for data loaders, optimizers,
-- DDP, collectives or compilers. Such an annotation is not the user's name for a step.
CREATE MACRO is_torch_label(name) AS is_wrapper(name) OR is_compilation(name)
OR is_data_loader(name) OR regexp_matches(name, concat(
    '^(Optimizer\.|DistributedDataParallel\.|FSDP::|FullyShardedDataParallel\.|nccl:|gloo:|mpi:|',
    'c10d::|record_param_comms)|compile_id='
));
