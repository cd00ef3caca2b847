-- `elementwise_formulas()`: formulas of elementwise operators, with one operation for each element
-- of the result; `operator_formulas` describes the columns.
CREATE MACRO elementwise_formulas() AS TABLE
    SELECT *, 1 AS operand
    FROM (
        VALUES
        (
            'elementwise', 'unary',
            'aten::abs aten::acos aten::asin aten::atan aten::bitwise_not aten::ceil aten::celu
            aten::cos aten::cosh aten::elu aten::erf aten::exp aten::exp2 aten::expm1
            aten::floor aten::gelu aten::hardsigmoid aten::hardswish aten::hardtanh
            aten::leaky_relu aten::log aten::log10 aten::log1p aten::log2 aten::mish
            aten::nan_to_num aten::neg aten::reciprocal aten::relu aten::relu6
            aten::round aten::rsqrt aten::selu aten::sgn aten::sigmoid aten::sign
            aten::silu aten::sin aten::sinh aten::softplus aten::sqrt aten::square
            aten::tan aten::tanh aten::tril aten::triu aten::trunc',
            'n[1]', 'b[1]', 's[1] * n[1]',
            'one operation for each element of the result',
            'the result has the type of the input',
            5
        ),
        (
            'elementwise', 'log_sigmoid', 'aten::log_sigmoid_forward',
            'n[1]', 'b[1]', 's[1] * n[1]',
            'one operation for each element of the result', 'the buffer of CPUs is not counted', 3
        ),
        -- The limits are numbers or tensors, and one may be absent.
        (
            'elementwise', 'clamp', 'aten::clamp aten::clamp_max aten::clamp_min',
            'n[1]', 'b[1] + given(t[2], b[2]) + given(t[3], b[3])', 's[1] * n[1]',
            'one operation for each element of the result',
            'the result has the type and the shape of the input', 4
        ),
        (
            'elementwise', 'predicate',
            'aten::isfinite aten::isinf aten::isnan aten::logical_not',
            'n[1]', 'b[1]', 'n[1]',
            'one operation for each element of the result', NULL, 2
        ),
        (
            'elementwise', 'binary',
            'aten::add aten::atan2 aten::bitwise_and aten::bitwise_or aten::bitwise_xor aten::div
            aten::floor_divide aten::fmax aten::fmin aten::fmod aten::gelu_backward
            aten::hardsigmoid_backward aten::hardswish_backward
            aten::hardtanh_backward aten::leaky_relu_backward aten::maximum
            aten::minimum aten::mish_backward aten::mul aten::pow aten::remainder
            aten::rsub aten::sigmoid_backward aten::silu_backward
            aten::softplus_backward aten::sub aten::tanh_backward
            aten::threshold_backward',
            'elements(broadcast(d[1], d[2]))', 'b[1] + b[2]',
            'promoted(d[:2], s[:2], t[:2], c[:2]) * elements(broadcast(d[1], d[2]))',
            'one operation for each element of the result',
            'the result has the widest type of its kind; divided integers stay integers', 4
        ),
        -- gradient, three numbers, whether the last one is the result, and the input or the result
        (
            'elementwise', 'elu_backward', 'aten::elu_backward',
            'n[1]', 'b[1] + b[6]', 's[1] * n[1]',
            'one operation for each element of the result', NULL, 7
        ),
        (
            'elementwise', 'comparison',
            'aten::eq aten::ge aten::gt aten::le aten::logical_and aten::logical_or
            aten::logical_xor aten::lt aten::ne',
            'elements(broadcast(d[1], d[2]))', 'b[1] + b[2]', 'elements(broadcast(d[1], d[2]))',
            'one operation for each element of the result', 'the result is boolean', 3
        ),
        (
            'elementwise', 'where', 'aten::where',
            'elements(broadcast(broadcast(d[1], d[2]), d[3]))', 'b[1] + b[2] + b[3]',
            'promoted(d[2:3], s[2:3], t[2:3], c[2:3])
                * elements(broadcast(broadcast(d[1], d[2]), d[3]))',
            'one operation for each element of the result', NULL, 4
        ),
        (
            'elementwise', 'ternary', 'aten::addcdiv aten::addcmul aten::lerp',
            'elements(broadcast(broadcast(d[1], d[2]), d[3]))', 'b[1] + b[2] + b[3]',
            'promoted(d[:3], s[:3], t[:3], c[:3])
                * elements(broadcast(broadcast(d[1], d[2]), d[3]))',
            'one operation for each element of the result', NULL, 5
        ),
        (
            'elementwise', 'masked_fill', 'aten::masked_fill_ aten::masked_scatter_',
            'n[1]', 'b[2]', 's[1] * n[1]',
            'one operation for each element of the result',
            'all elements are written; what they are filled with is not counted', 3
        ),
        (
            'elementwise', 'dropout', 'aten::native_dropout aten::_fused_dropout',
            'n[1]', 'b[1]', 's[1] * n[1] + n[1]',
            'one operation for each element of the result', 'the mask is boolean', 5
        ),
        (
            'elementwise', 'dropout_backward', 'aten::native_dropout_backward',
            'n[1]', 'b[1] + b[2]', 's[1] * n[1]',
            'one operation for each element of the result', NULL, 4
        ),
        (
            'elementwise', 'random', 'aten::bernoulli_ aten::normal_ aten::random_ aten::uniform_
            aten::exponential_',
            'n[1]', '0', 's[1] * n[1]',
            'one operation for each element of the result', NULL, 4
        ),
        -- The result has half as many columns: an activation of the first half, times the second.
        (
            'elementwise', 'act_and_mul',
            '_C::silu_and_mul _C::gelu_and_mul _C::gelu_tanh_and_mul sgl_kernel::silu_and_mul
            sgl_kernel::gelu_and_mul sgl_kernel::gelu_tanh_and_mul',
            '2 * n[1]', 'b[2]', 'b[1]',
            'activation and product for each element of the result', NULL, NULL
        ),
        (
            'elementwise', 'quantise', '_C::static_scaled_fp8_quant _C::dynamic_scaled_fp8_quant',
            'n[1]', 'b[2] + b[3]', 'b[1]',
            'one operation for each element of the result', NULL, NULL
        ),
        (
            'elementwise', 'loss', 'aten::mse_loss aten::l1_loss aten::smooth_l1_loss',
            'n[1]', 'b[1] + b[2]',
            's[1] * CASE WHEN c[3] = ''0'' THEN n[1] WHEN c[3] IN (''1'', ''2'') THEN 1 END',
            'one operation for each element', NULL, 5
        ),
        (
            'elementwise', 'loss_backward', 'aten::mse_loss_backward aten::smooth_l1_loss_backward',
            'n[2]', 'b[1] + b[2] + b[3]', 's[2] * n[2]',
            'one operation for each element of the result', NULL, 6
        ),
        (
            'elementwise', 'nll_loss', 'aten::nll_loss_forward aten::nll_loss2d_forward',
            'n[2]', 's[1] * n[2] + b[2]', NULL,
            'one operation for each target', 'the size of the result is not recorded', 7
        ),
        -- lists of tensors, whose types are not recorded
        (
            'elementwise', 'foreach',
            'aten::_foreach_add aten::_foreach_addcdiv aten::_foreach_addcmul
            aten::_foreach_clamp_max aten::_foreach_clamp_min aten::_foreach_div
            aten::_foreach_exp aten::_foreach_lerp aten::_foreach_maximum
            aten::_foreach_minimum aten::_foreach_mul aten::_foreach_neg
            aten::_foreach_pow aten::_foreach_reciprocal aten::_foreach_sqrt
            aten::_foreach_sub',
            'n[1]', NULL, NULL,
            'one operation for each element of the result',
            'the types of tensors in lists are not recorded', 5
        ),
        (
            'optimizer', 'adam', 'aten::_fused_adam aten::_fused_adamw',
            '13 * n[1]', NULL, NULL,
            'Kingma and Ba, Adam, algorithm 1: 3 for the first moment, 4 for the second, 6 a step',
            'weight decay is not counted; the types of tensors in lists are not recorded', 16
        ),
        (
            'optimizer', 'sgd', 'aten::_fused_sgd',
            '4 * n[1]', NULL, NULL,
            'torch.optim.SGD: 2 for the momentum, 2 for the step',
            'weight decay is not counted; the types of tensors in lists are not recorded', 13
        ),
        -- positions, query, key, size of a head, table of cosines and sines
        (
            'rotary', 'rotary_embedding', '_C::rotary_embedding',
            '3 * (n[2] + given(t[3], n[3]))',
            'b[1] + b[2] + given(t[3], b[3]) + n[1] * d[5][-1] * s[5]', 'b[2] + given(t[3], b[3])',
            'two multiplications and an addition for each element',
            'all of each head is rotated',
            NULL
        )
    ) AS formulas (
        kind, formula, operators, flops, bytes_read, bytes_written, source, assumes, arguments
    );
