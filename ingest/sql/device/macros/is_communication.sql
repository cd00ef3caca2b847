-- `is_communication(name)`: whether a kernel moves data between ranks; symmetric-memory kernels do.
CREATE MACRO is_communication(name) AS regexp_matches(name, concat(
    '(?i)nccl|rccl|hccl|oneccl|nvshmem|cross_device_reduce|multimem_|',
    '(one|two)_shot_all_(reduce|gather)|lamport'
));
