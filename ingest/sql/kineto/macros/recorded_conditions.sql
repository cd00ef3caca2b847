-- `recorded_conditions(metadata)`: the versions and the profiler's settings in the metadata of a
-- trace, as in `sources.conditions`.
CREATE MACRO recorded_conditions(metadata) AS map_from_entries(list_filter(
    [
        ('CUDA', json_extract_string(metadata, '$.cuda_runtime_version')),
        ('HIP', json_extract_string(metadata, '$.hip_runtime_version')),
        ('driver', json_extract_string(metadata, '$.cuda_driver_version')),
        ('NCCL', json_extract_string(metadata, '$.distributedInfo.nccl_version')),
        ('profiler: with_stack', profiler_setting(metadata, '$.with_stack')),
        ('profiler: record_shapes', profiler_setting(metadata, '$.record_shapes')),
        ('profiler: profile_memory', profiler_setting(metadata, '$.profile_memory')),
        ('profiler: with_flops', profiler_setting(metadata, '$.with_flops')),
        ('profiler: with_modules', profiler_setting(metadata, '$.with_modules'))
    ],
    LAMBDA entry: entry[2] IS NOT NULL
));
