-- `data_formulas()`: formulas of reductions, pooling, gathers and copies; `operator_formulas`
-- describes the columns. Moving data is no operation. A gather reads the rows that it wants, not
-- the whole table.
CREATE MACRO data_formulas() AS TABLE
    SELECT *, 1 AS operand
    FROM (
        VALUES
        (
            'reduction', 'reduction',
            'aten::amax aten::amin aten::logsumexp aten::std aten::var',
            'n[1]', 'b[1]', 's[1] * CASE WHEN len(t) < 3 THEN 1 ELSE reduced(d[1], c[2]) END',
            'one operation for each element of the input', 'the result has the type of the input', 5
        ),
        (
            'reduction', 'var_mean', 'aten::var_mean aten::std_mean',
            'n[1]', 'b[1]', '2 * s[1] * CASE WHEN len(t) < 3 THEN 1 ELSE reduced(d[1], c[2]) END',
            'one operation for each element of the input', 'the result has the type of the input', 6
        ),
        -- The type of the result comes second or fourth.
        (
            'reduction', 'sum', 'aten::mean aten::nansum aten::prod aten::sum',
            'n[1]', 'b[1]',
            'sum_bytes(t[1], s[1], c[if(len(t) < 3, 2, 4)])
                * CASE WHEN len(t) < 3 AND (t[2] = '''' OR len(c) > 0) THEN 1
                    ELSE reduced(d[1], c[2]) END',
            'one operation for each element of the input', NULL, 5
        ),
        (
            'reduction', 'predicate_reduction', 'aten::all aten::any',
            'n[1]', 'b[1]', 'CASE WHEN len(t) < 3 THEN 1 ELSE reduced(d[1], c[2]) END',
            'one operation for each element of the input', 'the result is boolean', 4
        ),
        (
            'reduction', 'index_reduction', 'aten::argmax aten::argmin',
            'n[1]', 'b[1]', '8 * reduced(d[1], c[2])',
            'one operation for each element of the input', 'the result is of int64', 4
        ),
        -- `max` of one tensor, of two, or along an axis, with the indices
        (
            'reduction', 'extremum', 'aten::max aten::min',
            'CASE WHEN len(t) = 1 OR t[2] = ''Scalar'' THEN n[1]
                ELSE elements(broadcast(d[1], d[2])) END',
            'b[1] + CASE WHEN len(t) = 1 OR t[2] = ''Scalar'' THEN 0 ELSE b[2] END',
            'CASE WHEN len(t) = 1 THEN s[1]
                WHEN t[2] = ''Scalar'' THEN (s[1] + 8) * reduced(d[1], c[2])
                ELSE promoted(d[:2], s[:2], t[:2], c[:2]) * elements(broadcast(d[1], d[2])) END',
            'one operation for each element of the input', NULL, 5
        ),
        (
            'reduction', 'vector_norm', 'aten::linalg_vector_norm',
            'n[1]', 'b[1]', 'named_bytes(c[5], s[1]) * reduced(d[1], c[3])',
            'one operation for each element of the input', 'the result has the type of the input', 6
        ),
        (
            'reduction', 'scan', 'aten::cumsum aten::cumprod',
            'n[1]', 'b[1]', 'sum_bytes(t[1], s[1], c[3]) * n[1]',
            'one operation for each element of the input', NULL, 4
        ),
        (
            'reduction', 'max_pool', 'aten::max_pool2d_with_indices aten::max_pool3d_with_indices',
            'elements(d[1][:len(d[1]) - len(try_cast(c[2] AS DOUBLE[]))])
                * elements(try_cast(c[2] AS DOUBLE[]))
                * elements(pooled(d[1], c[2], c[3], c[4], c[5], c[6]))',
            'b[1]',
            '(s[1] + 8) * elements(d[1][:len(d[1]) - len(try_cast(c[2] AS DOUBLE[]))])
                * elements(pooled(d[1], c[2], c[3], c[4], c[5], c[6]))',
            'one operation for each element of each window', 'the indices are of int64', 8
        ),
        (
            'reduction', 'max_pool_backward', 'aten::max_pool2d_with_indices_backward',
            'n[1]', 'b[1] + b[8]', 's[2] * n[2]',
            'one operation for each element of the gradient', NULL, 9
        ),
        (
            'reduction', 'adaptive_pool',
            'aten::_adaptive_avg_pool2d aten::_adaptive_avg_pool3d aten::adaptive_avg_pool1d',
            'n[1]', 'b[1]',
            's[1] * elements(try_cast(c[2] AS DOUBLE[]))
                * elements(d[1][:len(d[1]) - len(try_cast(c[2] AS DOUBLE[]))])',
            'one operation for each element of the input', NULL, 3
        ),
        (
            'gather', 'embedding', 'aten::embedding',
            '0', 'b[2] + s[1] * n[2] * d[1][2]', 's[1] * n[2] * d[1][2]',
            'the rows of the indices', 'no row is read from a cache', 6
        ),
        (
            'gather', 'embedding_backward', 'aten::embedding_dense_backward',
            'n[1]', 'b[1] + b[2]', 's[1] * try_cast(c[3] AS BIGINT) * d[1][-1]',
            'an addition for each element of the gradient', 'the whole gradient is written', 6
        ),
        (
            'gather', 'index_select', 'aten::index_select',
            '0', 'b[3] + s[1] * n[3] * n[1] / d[1][(try_cast(c[2] AS BIGINT) + CASE
                WHEN c[2] LIKE ''-%'' THEN len(d[1]) ELSE 0 END) + 1]',
            's[1] * n[3] * n[1] / d[1][(try_cast(c[2] AS BIGINT) + CASE
                WHEN c[2] LIKE ''-%'' THEN len(d[1]) ELSE 0 END) + 1]',
            'the rows of the indices', NULL, 4
        ),
        (
            'gather', 'gather', 'aten::gather',
            '0', 'b[3] + s[1] * n[3]', 's[1] * n[3]',
            'an element for each index', NULL, 5
        ),
        (
            'gather', 'scatter', 'aten::scatter_',
            '0', 'b[3] + CASE WHEN len(d[4]) > 0 THEN s[1] * n[3] WHEN len(d[4]) = 0 THEN 0 END',
            's[1] * n[3]',
            'an element for each index', NULL, 5
        ),
        (
            'gather', 'scatter_add', 'aten::scatter_add_',
            'n[3]', 'b[3] + 2 * s[1] * n[3]', 's[1] * n[3]',
            'an addition for each index', NULL, 4
        ),
        (
            'gather', 'index_add', 'aten::index_add_',
            'n[4]', 'b[3] + b[4] + s[1] * n[4]', 's[1] * n[4]',
            'an addition for each element of the source', NULL, 5
        ),
        (
            'gather', 'index_copy', 'aten::index_copy_',
            '0', 'b[3] + b[4]', 's[1] * n[4]',
            'the rows of the indices', NULL, 4
        ),
        (
            'gather', 'index', 'aten::index aten::index_put_ aten::_index_put_impl_',
            '0', NULL, NULL,
            'an element for each index',
            'the indices are in a list, whose shapes are not recorded',
            5
        ),
        (
            'gather', 'upsample_nearest',
            'aten::upsample_nearest1d aten::upsample_nearest2d aten::upsample_nearest3d
            aten::_upsample_nearest_exact1d aten::_upsample_nearest_exact2d',
            '0', 'b[1]', 's[1] * d[1][1] * d[1][2] * elements(resized(d[1], c[2], c[3]))',
            'an element of the input for each one of the result', NULL, 6
        ),
        (
            'elementwise', 'upsample_linear',
            'aten::upsample_linear1d aten::upsample_bilinear2d aten::upsample_bicubic2d
            aten::_upsample_bilinear2d_aa aten::_upsample_bicubic2d_aa',
            'd[1][1] * d[1][2] * elements(resized(d[1], c[2], c[4]))',
            'b[1]', 's[1] * d[1][1] * d[1][2] * elements(resized(d[1], c[2], c[4]))',
            'one operation for each element of the result', NULL, 6
        ),
        (
            'copy', 'copy', 'aten::copy_',
            '0', 'b[2]', 's[1] * n[1]',
            'each element of the result', NULL, 3
        ),
        (
            'copy', 'fill', 'aten::fill_',
            '0', 'given(t[2], b[2])', 's[1] * n[1]',
            'each element of the result', NULL, 2
        ),
        (
            'copy', 'zero', 'aten::zero_',
            '0', '0', 's[1] * n[1]',
            'each element of the result', NULL, 1
        ),
        (
            'copy', 'item', 'aten::_local_scalar_dense',
            '0', 'dtype_bytes(y[1])', 'dtype_bytes(y[1])',
            'one element', NULL, 1
        ),
        -- Inside of calls without a result among the arguments are ones with it.
        (
            'copy', 'eye', 'aten::eye',
            'CASE WHEN len(t) = 3 AND s[3] > 0 THEN 0 END',
            'CASE WHEN len(t) = 3 AND s[3] > 0 THEN 0 END',
            's[3] * try_cast(c[1] AS DOUBLE) * try_cast(c[2] AS DOUBLE)',
            'each element of the result', NULL, 6
        ),
        (
            'copy', 'arange', 'aten::arange',
            'CASE WHEN s[4] > 0 THEN 0 END', 'CASE WHEN s[4] > 0 THEN 0 END',
            's[4] * ceil(
                (try_cast(c[2] AS DOUBLE) - try_cast(c[1] AS DOUBLE)) / try_cast(c[3] AS DOUBLE)
            )',
            'each element of the result', NULL, 7
        ),
        (
            'copy', 'cat', 'aten::cat aten::stack aten::_cat aten::_foreach_copy',
            '0', NULL, NULL,
            'each element of the result', 'the types of tensors in lists are not recorded', 4
        ),
        -- key, value, and their caches
        (
            'copy', 'cache_write',
            '_C_cache_ops::reshape_and_cache_flash _C_cache_ops::reshape_and_cache',
            '0', 'b[1] + b[2] + b[5]', 's[3] * n[1] + s[4] * n[2]',
            'each key and each value', NULL, NULL
        )
    ) AS formulas (
        kind, formula, operators, flops, bytes_read, bytes_written, source, assumes, arguments
    );
