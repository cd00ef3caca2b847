-- `category_today(recorded)`: today's name for a category of a trace; older versions of torch and
-- other accelerators name the same things differently.
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
