-- `category_today(recorded, name)`: the current name of an event's category. Older versions of
-- torch and other accelerators name the same things differently. Among the device events of an
-- MTIA, a `dma_request` is a copy; waits for events and records of events are not work and keep
-- their category.
CREATE MACRO category_today(recorded, name) AS CASE
    WHEN
        recorded IN (
            'python_function', 'cpu_op', 'user_annotation', 'cuda_runtime', 'cuda_driver', 'kernel'
        )
        THEN recorded
    WHEN recorded = 'Operator' THEN 'cpu_op'
    WHEN recorded = 'mtia_ccp_events'
        THEN CASE name
            WHEN 'dma_request' THEN 'gpu_memcpy'
            WHEN 'event_wait' THEN recorded
            WHEN 'event_record' THEN recorded
            ELSE 'kernel'
        END
    WHEN recorded IN ('Kernel', 'hpu_op') THEN 'kernel'
    -- Each accelerator has a prefix of its own: xpu_runtime, musa_runtime, GCU_MEMCPY.
    WHEN regexp_full_match(recorded, '(?i)runtime|[a-z0-9]+_runtime') THEN 'cuda_runtime'
    WHEN regexp_full_match(recorded, '(?i)[a-z0-9]+_driver') THEN 'cuda_driver'
    WHEN regexp_full_match(recorded, '(?i)([a-z0-9]+_)?memcpy') THEN 'gpu_memcpy'
    WHEN regexp_full_match(recorded, '(?i)([a-z0-9]+_)?memset') THEN 'gpu_memset'
    WHEN regexp_full_match(recorded, '(?i)[a-z0-9]+_user_annotation') THEN 'gpu_user_annotation'
    ELSE recorded
END;
