-- `is_communication(name)`: whether a kernel moves data between ranks. Matches kernels of
-- collective libraries and of symmetric memory, and collectives that programs implement themselves.
CREATE MACRO is_communication(name) AS regexp_matches(name, concat(
    '(?i)nccl|rccl|hccl|oneccl|cncl|nvshmem|mscclpp|multimem_|lamport|userbuffers|quick_?reduce|',
    '(one|two)_?shot_?all_?(reduce|gather)|allreduce_fusion|cross_device_(reduce|store)|',
    'deep_ep::|\bmori(::|_)|triton_all_reduce'
));
