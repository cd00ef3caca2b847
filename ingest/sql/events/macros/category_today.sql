-- `category_today(recorded, name)`: the current name of an event's category. Older versions of
-- torch and other accelerators name the same things differently. Among the device events of an
-- MTIA, a `dma_request` is a copy; an `event_wait` is not work and keeps its category.
CREATE MACRO category_today(recorded, name) AS CASE
    WHEN recorded IN ('python_function', 'user_annotation', 'kernel') THEN recorded
    WHEN recorded = 'Operator' THEN 'cpu_op'
    WHEN recorded = 'mtia_ccp_events'
        THEN CASE name
            WHEN 'dma_request' THEN 'gpu_memcpy'
            WHEN 'event_wait' THEN recorded
            ELSE 'kernel'
        END
    WHEN regexp_full_match(recorded, 'Runtime|(mtia|xpu|glow|privateuse1|mlu|gcu)_runtime')
        THEN 'cuda_runtime'
    WHEN regexp_full_match(recorded, '(xpu|privateuse1|gcu)_driver') THEN 'cuda_driver'
    WHEN recorded IN ('Kernel', 'hpu_op') THEN 'kernel'
    WHEN recorded IN ('Memcpy', 'mlu_memcpy', 'GCU_MEMCPY') THEN 'gpu_memcpy'
    WHEN recorded IN ('Memset', 'mlu_memset', 'GCU_MEMSET') THEN 'gpu_memset'
    WHEN recorded IN ('mlu_user_annotation', 'GCU_USER_ANNOTATION') THEN 'gpu_user_annotation'
    ELSE recorded
END;
