-- `category_by_place(process, thread, name)`: the category of an event that records none, from the
-- names of its process, its thread and itself; null if they do not tell. `process` and `thread` are
-- ids where names are missing. `EventList.export_chrome_trace` of torch puts operators in the
-- process "CPU functions", kernels in "CUDA functions", and in newer versions also kernels in "CPU
-- functions", without a place of their own. torch_npu puts the work of a device in "Ascend
-- Hardware"; waits for events and records of events are not work.
CREATE MACRO category_by_place(process, thread, name) AS CASE
    WHEN
        regexp_matches(process, '^(CUDA|HIP|XPU) functions$|^Ascend Hardware|^[GNXH]PU ?[0-9]*\b')
        OR regexp_matches(thread, '(?i)^stream ?[0-9]+\b')
        THEN CASE
            WHEN regexp_matches(name, '(?i)^memcpy') THEN 'gpu_memcpy'
            WHEN regexp_matches(name, '(?i)^memset') THEN 'gpu_memset'
            WHEN regexp_matches(name, '(?i)^((event|notify|model|stream)_|profiling|place_?holder)')
                THEN NULL
            ELSE 'kernel'
        END
    WHEN starts_with(name, 'ProfilerStep#') THEN 'user_annotation'
    WHEN regexp_matches(name, '^nn\.Module: |\([0-9]+\): |^<built-in ') THEN 'python_function'
    WHEN regexp_matches(name, '^(cuda|hip|musa)[A-Z][A-Za-z0-9_]+$') THEN 'cuda_runtime'
    WHEN
        process = 'CPU functions' AND NOT regexp_matches(name, '^(void|Memcpy|Memset)\b')
        OR regexp_matches(name, '^[A-Za-z0-9_]+::[A-Za-z0-9_.]+$')
        THEN 'cpu_op'
END;
