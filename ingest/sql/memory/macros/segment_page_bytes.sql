-- `segment_page_bytes(kind, settings)`: the size of the pages of an expandable segment. In the pool
-- of small allocations it is 2 MiB. In the pool of large ones it is 20 MiB, or the setting
-- `large_segment_size_mb` of PyTorch 2.10 and later (`c10/core/AllocatorConfig.h`).
CREATE MACRO segment_page_bytes(kind, settings) AS CASE
    WHEN kind = 'small' THEN 2_097_152
    ELSE 1_048_576 * coalesce(
        try_cast(
            regexp_extract(
                concat_ws(',', settings['PYTORCH_ALLOC_CONF'], settings['PYTORCH_CUDA_ALLOC_CONF']),
                'large_segment_size_mb\s*:\s*(\d+)',
                1
            ) AS BIGINT
        ),
        20
    )
END;
