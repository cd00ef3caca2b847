-- What each category of a trace is today: older and other accelerators' names beside CUDA's.
CREATE MACRO category_today(recorded) AS CASE
    WHEN recorded IN ('python_function', 'user_annotation', 'kernel') THEN recorded
    WHEN recorded = 'Operator' THEN 'cpu_op'
    WHEN
        recorded IN (
            'Runtime', 'mtia_runtime', 'xpu_runtime', 'glow_runtime', 'privateuse1_runtime'
        )
        THEN 'cuda_runtime'
    WHEN recorded = 'privateuse1_driver' THEN 'cuda_driver'
    WHEN recorded IN ('Kernel', 'mtia_ccp_events', 'hpu_op') THEN 'kernel'
    WHEN recorded = 'Memcpy' THEN 'gpu_memcpy'
    WHEN recorded = 'Memset' THEN 'gpu_memset'
    ELSE recorded
END;

-- Where a category of today runs: on a thread of the `host`, where it nests, or on a `device`, as
-- its device time; any other is an `annotation`, which is neither.
CREATE MACRO side(category) AS CASE
    WHEN
        category IN (
            'python_function', 'cpu_op', 'user_annotation', 'cuda_runtime', 'cuda_driver'
        )
        THEN 'host'
    WHEN category IN ('kernel', 'gpu_memcpy', 'gpu_memset') THEN 'device'
    ELSE 'annotation'
END;
