-- `norm_formulas()`: formulas of norms and softmax; `operator_formulas` describes the columns.
CREATE MACRO norm_formulas() AS TABLE
    SELECT CASE WHEN formula LIKE '%softmax%' THEN 'softmax' ELSE 'norm' END AS kind, *
    FROM (
        VALUES
        (
            'layer_norm', 'aten::layer_norm aten::native_layer_norm', 1,
            '5 * n[1]',
            'b[1] + given(t[3], b[3]) + given(t[4], b[4])', 's[1] * n[1]',
            'mean, difference, square, sum, scale',
            'the weight and the bias are not counted as operations, nor means as bytes', 8
        ),
        (
            'group_norm', 'aten::group_norm aten::native_group_norm', 1,
            '5 * n[1]',
            'b[1] + CASE WHEN t[2] = ''Scalar'' THEN given(t[3], b[3]) + given(t[4], b[4])
                ELSE given(t[2], b[2]) + given(t[3], b[3]) END',
            's[1] * n[1]',
            'mean, difference, square, sum, scale',
            'the weight and the bias are not counted as operations, nor means as bytes', 11
        ),
        (
            'aiter_group_norm', 'aiter::_groupnorm_run', 1,
            '5 * n[1]',
            'CASE WHEN t[4] = ''Scalar'' THEN b[3] + b[5] + b[6] ELSE b[1] + b[3] + b[4] END',
            's[1] * n[1]',
            'mean, difference, square, sum, scale', 'the weight and the bias are not counted', NULL
        ),
        (
            'rms_norm', 'aten::rms_norm aten::_fused_rms_norm', 1,
            '3 * n[1]',
            'b[1] + given(t[3], b[3])', 's[1] * n[1]',
            'square, sum, scale', 'the weight is not counted', 4
        ),
        (
            'rms_norm_out', '_C::rms_norm sgl_kernel::rmsnorm', 2,
            '3 * n[2]',
            'b[2] + b[3]', 'b[1]',
            'square, sum, scale', 'the weight is not counted', NULL
        ),
        (
            'add_rms_norm', '_C::fused_add_rms_norm sgl_kernel::fused_add_rmsnorm', 1,
            '4 * n[1]',
            'b[1] + b[2] + b[3]', 'b[1] + b[2]',
            'addition, square, sum, scale', 'the weight is not counted', NULL
        ),
        (
            'batch_norm',
            'aten::native_batch_norm aten::cudnn_batch_norm aten::miopen_batch_norm
            aten::_native_batch_norm_legit aten::_batch_norm_with_update',
            1,
            'CASE WHEN c[6] = ''False'' THEN 2 WHEN c[6] <> ''False'' THEN 5 END * n[1]',
            'b[1] + given(t[2], b[2]) + given(t[3], b[3])', 's[1] * n[1]',
            'mean, difference, square, sum, scale; without training, difference and scale',
            'the weight and the bias are not counted as operations, nor means as bytes', 12
        ),
        (
            'norm_backward',
            'aten::native_layer_norm_backward aten::native_group_norm_backward
            aten::_fused_rms_norm_backward aten::native_batch_norm_backward
            aten::cudnn_batch_norm_backward aten::miopen_batch_norm_backward',
            1,
            '9 * n[1]',
            'b[1] + b[2]', 's[1] * n[1]',
            'the normalised input, two sums, and four operations for the gradient of the input',
            'gradients of weight and bias, and what they and means take in memory, are not counted',
            13
        ),
        (
            'softmax', 'aten::_softmax aten::_log_softmax', 1,
            '5 * n[1]',
            'b[1]', 'CASE c[3] WHEN ''True'' THEN 4 WHEN ''False'' THEN s[1] END * n[1]',
            'maximum, difference, exponential, sum, division', NULL, 4
        ),
        (
            'softmax_backward', 'aten::_softmax_backward_data aten::_log_softmax_backward_data', 1,
            '4 * n[1]',
            'b[1] + b[2]', 's[1] * n[1]',
            'product with the output, sum, difference, product',
            'the input has the type of the gradient', 5
        )
    ) AS formulas (
        formula, operators, operand, flops, bytes_read, bytes_written, source, assumes, arguments
    );
