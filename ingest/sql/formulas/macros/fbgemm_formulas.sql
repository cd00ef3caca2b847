-- `fbgemm_formulas()`: formulas of FBGEMM's operators, which recommendation models use;
-- `operator_formulas` describes the columns.
CREATE MACRO fbgemm_formulas() AS TABLE
    SELECT *, 1 AS operand
    FROM (
        VALUES
        -- A quantised row ends with its scale and its bias in float32, after whole words.
        (
            'elementwise', 'quantise_rows', 'fbgemm::FloatToFP8RowwiseQuantized',
            'n[1]', 'b[1]', 'd[1][1] * (4 * ceil(d[1][2] / 4) + 8)',
            'one operation for each element', NULL, NULL
        ),
        (
            'elementwise', 'dequantise_rows', 'fbgemm::FP8RowwiseQuantizedToFloat',
            'd[1][1] * (d[1][2] - 8)', 'b[1]', '4 * d[1][1] * (d[1][2] - 8)',
            'one operation for each element', 'the result has float32', 'len(t) <= 2'
        ),
        (
            'elementwise', 'quantise_hfp8', 'fbgemm::FloatToHFP8Quantized',
            'n[1]', 'b[1]', 'n[1]',
            'one operation for each element', NULL, NULL
        ),
        (
            'elementwise', 'dequantise_hfp8', 'fbgemm::HFP8QuantizedToFloat',
            'n[1]', 'b[1]', '4 * n[1]',
            'one operation for each element', NULL, NULL
        ),
        (
            'copy', 'permute_embeddings',
            'fbgemm::permute_pooled_embs fbgemm::permute_pooled_embs_auto_grad
            fbgemm::recat_embedding_grad_output_mixed_D_batch',
            '0', 'b[1]', 's[1] * n[1]',
            'each element of the result', NULL, NULL
        ),
        (
            'copy', 'permute_sparse', 'fbgemm::permute_2D_sparse_data
            fbgemm::permute_sparse_features',
            '0', NULL, NULL,
            'each element of the result', 'how many values are moved is not recorded', NULL
        ),
        (
            'gather', 'bounds_check', 'fbgemm::bounds_check_indices',
            '0', 'b[1] + b[2] + b[3]', '0',
            'each index and offset', 'all indices are valid', NULL
        ),
        (
            'gather', 'embedding_lookup',
            'fbgemm::split_embedding_codegen_lookup_rowwise_adagrad_function
            torch::autograd::CppNode<SplitLookupFunction_rowwise_adagrad_Op>',
            NULL, NULL, NULL,
            'each row that is looked up', 'the sizes of rows are not recorded', NULL
        )
    ) AS formulas (
        kind, formula, operators, flops, bytes_read, bytes_written, source, assumes, requires
    );
