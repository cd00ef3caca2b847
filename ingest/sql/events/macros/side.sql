-- `side(category)`: where an event of a category (in current names) runs. `host` events nest on a
-- thread. `device` events are the device's work and count as its time. An `annotation` is neither.
CREATE MACRO side(category) AS CASE
    WHEN
        category IN (
            'python_function', 'cpu_op', 'user_annotation', 'cuda_runtime', 'cuda_driver'
        )
        THEN 'host'
    WHEN category IN ('kernel', 'gpu_memcpy', 'gpu_memset') THEN 'device'
    ELSE 'annotation'
END;
