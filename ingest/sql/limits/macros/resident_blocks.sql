-- `resident_blocks(capability, threads, registers, shared_bytes)`: how many blocks of a kernel fit
-- on a multiprocessor of NVIDIA at a time, from its threads for each block, registers for each
-- thread and bytes of shared memory for each block. Null if something is unknown. Source: the table
-- of compute capabilities in the CUDA C++ Programming Guide.
CREATE MACRO resident_blocks(capability, threads, registers, shared_bytes) AS CASE
    -- `least` skips nulls.
    WHEN
        threads IS NOT NULL AND registers IS NOT NULL AND shared_bytes IS NOT NULL
        AND regexp_matches(capability, '^(7\.[025]|8\.[0679]|9\.0|1[02]\.[013])$')
        THEN nullif(least(
            CASE
                WHEN capability = '7.5' THEN 16
                WHEN capability IN ('8.6', '8.7') THEN 16
                WHEN capability IN ('8.9', '12.0', '12.1') THEN 24
                WHEN capability IN ('7.0', '7.2', '8.0', '9.0', '10.0', '10.3') THEN 32
            END,
            CASE
                WHEN capability = '7.5' THEN 1024
                WHEN capability IN ('8.6', '8.7', '8.9', '12.0', '12.1') THEN 1536
                WHEN capability IN ('7.0', '7.2', '8.0', '9.0', '10.0', '10.3') THEN 2048
            END // nullif(32 * ceil(threads / 32), 0),
            -- A warp gets registers in units of 256.
            65536 // nullif(ceil(registers * 32 / 256) * 256 * ceil(threads / 32), 0),
            CASE
                WHEN capability = '7.5' THEN 64
                WHEN capability IN ('7.0', '7.2') THEN 96
                WHEN capability IN ('8.6', '8.9', '12.0', '12.1') THEN 100
                WHEN capability IN ('8.0', '8.7') THEN 164
                WHEN capability IN ('9.0', '10.0', '10.3') THEN 228
            END * 1024 // nullif(shared_bytes + if(capability LIKE '7.%', 0, 1024), 0)
        ), 0)
END;
