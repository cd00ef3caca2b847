-- What each category of a trace is today: older and other accelerators' names beside CUDA's.
-- One row: a category as recorded.
--
-- side is `host` (runs on a thread, nests) or `device` (device time); any other category is an
-- `annotation`, which is neither.
CREATE TABLE categories AS
SELECT * FROM (
    VALUES
    ('cpu_op', 'cpu_op', 'host'),
    ('Operator', 'cpu_op', 'host'),
    ('user_annotation', 'user_annotation', 'host'),
    ('python_function', 'python_function', 'host'),
    ('cuda_runtime', 'cuda_runtime', 'host'),
    ('Runtime', 'cuda_runtime', 'host'),
    ('mtia_runtime', 'cuda_runtime', 'host'),
    ('xpu_runtime', 'cuda_runtime', 'host'),
    ('glow_runtime', 'cuda_runtime', 'host'),
    ('privateuse1_runtime', 'cuda_runtime', 'host'),
    ('cuda_driver', 'cuda_driver', 'host'),
    ('privateuse1_driver', 'cuda_driver', 'host'),
    ('kernel', 'kernel', 'device'),
    ('Kernel', 'kernel', 'device'),
    ('mtia_ccp_events', 'kernel', 'device'),
    ('hpu_op', 'kernel', 'device'),
    ('gpu_memcpy', 'gpu_memcpy', 'device'),
    ('Memcpy', 'gpu_memcpy', 'device'),
    ('gpu_memset', 'gpu_memset', 'device'),
    ('Memset', 'gpu_memset', 'device')
) AS mapping (recorded, category, side);
