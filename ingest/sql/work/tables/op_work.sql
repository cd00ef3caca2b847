-- Work of operators: floating-point operations, bytes that have to be read and written, and the
-- time that these take. Work belongs to the outermost operator whose formula yields a number, so
-- sums count it once. An operator that only knows that it has no operations gives way to operators
-- inside whose bytes are known. The work of MegEngine's operators is what its profiler recorded.
-- One row: a call of an operator with a formula (`work_formulas`) that yields a number, or an
-- operator with a footprint in a profile of MegEngine.
-- Materialised: a relation reads it, and its file is written from it.
--
-- run_id, source_id, rank
-- op_id          the operator (`ops.event_id`); null if a profile of MegEngine has no time of the
--                operator on the host
-- formula        the formula, as in `work_formulas`; `megengine` for figures of MegEngine
-- kind           kind of work, as in `work_formulas`; `other` for other types of MegEngine's
--                operators
-- dtype          compute type, as torch names it: `bfloat16`. Of MegEngine, the first known type of
--                an input
-- flops          floating-point operations; a multiplication and an addition are two
-- bytes_read     bytes of its inputs, each once; of a gather, of the rows that it wants. Null for
--                MegEngine, which records the sum
-- bytes_written  bytes of its outputs. Null for MegEngine
-- bytes_at_most  of a generated kernel, the bytes of all its arguments, if what it reads and writes
--                is unknown: an upper bound of both. Null for other operators
-- bytes          of both, or else `bytes_at_most`; null if neither is known
-- flops_reason   why `flops` is null: formula (what is recorded does not determine it; see column
--                `assumes` of `work_formulas`), inputs (a shape, type or value is missing, symbolic
--                or too large) or not_recorded (MegEngine counted none, or no natural number)
-- bytes_reason   why the bytes read or written are unknown, in the same words
-- device_id      device with the longest of its kernels; in a run without a device, its host
--                (`devices.device_id`). Null if it launched none, as all columns of its time
-- device
-- step           step of most of its time (`steps.step`)
-- is_measured    whether it counts in the measured steps
-- is_median
-- precision      the peak that limits it, as in `device_peaks`; null if no peak is known for its
--                type
-- is_leaving_device  whether it copies from or to another device or the host
-- kernels        number of kernels, copies and memsets that it launched, without communication;
--                null on a host
-- kernel         name of the longest of them
-- kernel_id      the longest of them (`kernels.event_id`)
-- work_ns        sum of their durations; on a host, duration of the operator, ns
-- launch_call_ns  time of the calls that launched them, ns
-- module_id      innermost nn.Module around it (`module_tree.module_id`); null outside modules
-- pipeline_call  pipeline call around its start (`stages.call`); null outside pipeline calls
-- stage          stage of the call: `encode`, `denoise`, `decode` or `other`; null outside pipeline
--                calls
-- block_class    class name of the denoiser's block; null outside blocks
WITH timed AS (
    SELECT
        op_id,
        device_id,
        any_value(device) AS device,
        any_value(step) FILTER (WHERE has_work) AS step,
        bool_or(is_measured) AS is_measured,
        any_value(precision) AS precision,
        bool_or(is_leaving_device) AS is_leaving_device,
        sum(kernels)::BIGINT AS kernels,
        any_value(kernel_id) FILTER (WHERE has_work) AS kernel_id,
        sum(work_ns)::BIGINT AS work_ns,
        sum(launch_call_ns)::BIGINT AS launch_call_ns
    FROM timed_work
    WHERE kind IS NOT NULL
    GROUP BY op_id, device_id
    HAVING bool_or(has_work)
)

SELECT
    work.*,
    timed.device_id,
    timed.device,
    timed.step,
    timed.is_measured,
    timed.is_measured
    AND is_median_step(measured.steps_from, measured.median_step, timed.step) AS is_median,
    timed.precision,
    timed.is_leaving_device,
    timed.kernels,
    longest.name AS kernel,
    timed.kernel_id,
    timed.work_ns,
    timed.launch_call_ns,
    nullif(host_nest.module_id, 0) AS module_id,
    around.call AS pipeline_call,
    around.stage,
    around.block_class
FROM known_work AS work
LEFT JOIN timed ON work.op_id = timed.op_id
LEFT JOIN kernels AS longest ON timed.kernel_id = longest.event_id
LEFT JOIN measured_windows AS measured
    ON work.source_id = measured.source_id AND timed.device_id = measured.device_id
LEFT JOIN host_nest ON work.op_id = host_nest.event_id
LEFT JOIN stage_members AS around ON work.op_id = around.event_id AND around.kind = 'work';
