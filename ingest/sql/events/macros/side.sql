-- `side(category)`: where a category (today's name) runs: on a thread of the `host`, where it
-- nests; on a `device`, as its device time; an `annotation` is neither.
CREATE MACRO side(category) AS CASE
    WHEN
        category IN (
            'python_function', 'cpu_op', 'user_annotation', 'cuda_runtime', 'cuda_driver'
        )
        THEN 'host'
    WHEN category IN ('kernel', 'gpu_memcpy', 'gpu_memset') THEN 'device'
    ELSE 'annotation'
END;
