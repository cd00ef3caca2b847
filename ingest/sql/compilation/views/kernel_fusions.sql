-- Kernels that torch.compile fused, with the operators that each replaces.
-- One row: a fused kernel of a compilation, with all its calls in the trace of a rank.
--
-- run_id, rank
-- compile_id  the compilation (`compilations.compile_id`), for example `0/1`; null if no compile
--             log reports it
-- kernel      name of the kernel
-- ops         operators that the kernel replaces. With provenance, the ops of the user's program
--             that `compiled_ops` counts under the kernel, in program order; if it counts none, the
--             ops that the kernel computes in part. Without provenance, the operators in the
--             kernel's name, which lists each only once
-- evidence    where `ops` comes from: `provenance` in torch's compile log, or the `name` of the
--             kernel
-- calls       number of calls of the kernel
-- device_ns   device time of the calls, ns; null for a CPU kernel
-- host_ns     host time of the calls, ns; null for a device kernel
WITH
ran AS (
    SELECT run_id, rank, event_id AS op_id, NULL::BIGINT AS event_id, name, dur_ns AS host_ns
    FROM top_ops
    WHERE contains(name, 'cpp_') AND contains(name, 'fused_')
    UNION ALL BY NAME
    SELECT run_id, rank, top_op_id AS op_id, event_id, name, dur_ns AS device_ns
    FROM kernels
    WHERE starts_with(name, 'triton_') AND contains(name, 'fused_')
),

linked AS (
    SELECT run_id, event_id AS work_item_id, * EXCLUDE (run_id, event_id, kernel_id)
    FROM compiled_calls
    WHERE event_id IS NOT NULL
    UNION ALL
    SELECT run_id, kernel_id AS work_item_id, * EXCLUDE (run_id, event_id, kernel_id)
    FROM compiled_calls
    WHERE event_id IS NULL
),

calls AS (
    SELECT
        ran.run_id,
        ran.rank,
        generated_kernel(ran.name) AS kernel,
        coalesce(of_op.log_source_id, of_kernel.log_source_id) AS log_source_id,
        coalesce(of_op.compile_id, of_kernel.compile_id) AS compile_id,
        coalesce(of_op.graph_index, of_kernel.graph_index) AS graph_index,
        min(coalesce(of_op.ordinal, of_kernel.ordinal)) AS ordinal,
        count(*) AS calls,
        sum(ran.device_ns)::BIGINT AS device_ns,
        sum(ran.host_ns)::BIGINT AS host_ns
    FROM ran
    LEFT JOIN linked AS of_op
        ON ran.run_id = of_op.run_id AND ran.op_id = of_op.work_item_id
    LEFT JOIN linked AS of_kernel
        ON ran.run_id = of_kernel.run_id AND ran.event_id = of_kernel.work_item_id
    GROUP BY ALL
),

-- The operators counted under each kernel call.
counted AS (
    SELECT
        run_id,
        source_id AS log_source_id,
        compile_id,
        graph_index,
        kernel_ordinal,
        list(op ORDER BY ordinal) AS ops
    FROM compiled_ops
    WHERE kernel_ordinal IS NOT NULL
    GROUP BY run_id, source_id, compile_id, graph_index, kernel_ordinal
)

SELECT
    calls.run_id,
    calls.rank,
    calls.compile_id,
    calls.kernel,
    coalesce(
        counted.ops,
        nullif(provenance.ops, []),
        -- Operator names that contain underscores come first. The last pattern matches the others.
        regexp_extract_all(
            regexp_extract(calls.kernel, 'fused_(.*?)(_[0-9]+)?$', 1),
            concat(
                '_to_copy|_unsafe_view|_unsafe_index|_log_softmax|_softmax_backward_data|_softmax|',
                '_scaled_dot_product_[a-z]+_attention(?:_for_cpu)?|scaled_dot_product_attention|',
                '_fused_rms_norm|_adaptive_avg_pool2d|_native_batch_norm_legit(?:_no_training)?|',
                '(?:native_)?(?:layer|group|batch)_norm(?:_backward)?|rms_norm|native_dropout|',
                '(?:convolution|silu|gelu|threshold|sigmoid|tanh|embedding_dense)_backward|',
                '(?:max|avg)_pool2d(?:_with_indices)?|upsample_[a-z]+[0-9]d|constant_pad_nd|',
                'index_(?:put|select|add)|masked_(?:fill|scatter)|(?:slice|select)_scatter|',
                'scatter_(?:add|reduce)|split_with_sizes|repeat_interleave|pixel_shuffle|',
                '(?:new|full|zeros|ones|empty|rand|randn)_(?:zeros|ones|full|empty|like)|',
                '(?:logical|bitwise)_(?:and|or|not|xor)|(?:floor|true)_divide|clamp_(?:min|max)|',
                'convert_element_type|broadcast_in_dim|scalar_tensor|as_strided|lift_fresh_copy|',
                'linalg_vector_norm|nll_loss_(?:forward|backward)|[a-z]+_loss|leaky_relu|',
                '[a-z0-9]+'
            )
        )
    ) AS ops,
    CASE WHEN provenance.ops <> [] THEN 'provenance' ELSE 'name' END AS evidence,
    calls.calls,
    calls.device_ns,
    calls.host_ns
FROM calls
LEFT JOIN compiled_kernels AS provenance
    ON
        calls.run_id = provenance.run_id
        AND calls.log_source_id = provenance.source_id
        AND calls.compile_id = provenance.compile_id
        AND calls.graph_index = provenance.graph_index
        AND calls.ordinal = provenance.ordinal
LEFT JOIN counted
    ON
        calls.run_id = counted.run_id
        AND calls.log_source_id = counted.log_source_id
        AND calls.compile_id = counted.compile_id
        AND calls.graph_index = counted.graph_index
        AND calls.ordinal = counted.kernel_ordinal;
