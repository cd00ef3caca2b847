-- `category_by_place(process, thread, name)`: the category of an event that records none, from the
-- names of its process, its thread and itself; null if unknown. `process` and `thread` are ids if
-- names are missing. `EventList.export_chrome_trace` of torch puts operators in the process "CPU
-- functions", and kernels in "CUDA functions" or, in newer versions, in "CPU functions". torch_npu
-- puts the work of a device in "Ascend Hardware", with tasks that are not work.
CREATE MACRO category_by_place(process, thread, name) AS CASE
    WHEN
        starts_with(process, 'Ascend Hardware')
        AND regexp_matches(
            name, concat(
                '(?i)^(event|notify|capture)_(wait|record)|^model_(exec|maint)|',
                '^stream_(switch|active)|^profiling_(en|dis)able|^place_?holder'
            )
        )
        THEN NULL
    WHEN
        regexp_matches(process, '^(CUDA|HIP|XPU) functions$|^Ascend Hardware|^[GNXH]PU ?[0-9]*\b')
        OR regexp_matches(thread, '(?i)^stream ?[0-9]+ *$')
        THEN CASE
            WHEN regexp_matches(name, '(?i)^memcpy') THEN 'gpu_memcpy'
            WHEN regexp_matches(name, '(?i)^memset') THEN 'gpu_memset'
            ELSE 'kernel'
        END
    WHEN starts_with(name, 'ProfilerStep#') THEN 'user_annotation'
    WHEN regexp_matches(name, '^nn\.Module: |\([0-9]+\): |^<built-in ') THEN 'python_function'
    WHEN regexp_matches(name, '^(cuda|hip|musa)[A-Z][A-Za-z0-9_]+$') THEN 'cuda_runtime'
    WHEN regexp_matches(name, '^cu[A-Z][A-Za-z0-9_]+$') THEN 'cuda_driver'
    WHEN regexp_matches(name, '^[A-Za-z0-9_]+::[A-Za-z0-9_.]+$') THEN 'cpu_op'
    WHEN
        process = 'CPU functions'
        AND NOT is_communication(name)
        AND NOT regexp_matches(name, concat(
            '^\[|^(void|Memcpy|Memset)\b|(?i)_kernel|kernel[_<]|_fused_|gemm|splitk|',
            '^(cutlass|ampere|volta|turing|hopper|sm[0-9]+|nvjet|cudnn|flash_fwd|flash_bwd)_'
        ))
        THEN 'cpu_op'
END;
