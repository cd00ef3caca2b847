-- `resident_blocks(capability, threads, registers, shared_bytes)`: how many blocks of a kernel fit
-- on a multiprocessor of NVIDIA at a time, from its threads for each block, registers for each
-- thread and bytes of shared memory for each block. Null if something is unknown.
--
-- The limits of a multiprocessor are blocks, threads and KiB of shared memory. Source: the table of
-- compute capabilities in the CUDA C++ Programming Guide.
CREATE MACRO resident_blocks(capability, threads, registers, shared_bytes) AS list_transform(
    [
        map(
            [
                '7.0', '7.2', '7.5', '8.0', '8.6', '8.7', '8.9',
                '9.0', '10.0', '10.3', '12.0', '12.1'
            ],
            [
                [32, 2048, 96], [32, 2048, 96], [16, 1024, 64],
                [32, 2048, 164], [16, 1536, 100], [16, 1536, 164], [24, 1536, 100],
                [32, 2048, 228], [32, 2048, 228], [32, 2048, 228],
                [24, 1536, 100], [24, 1536, 100]
            ]
        )[capability]
    ],
    LAMBDA limits: CASE
        -- `least` skips nulls.
        WHEN
            threads > 0
            AND registers BETWEEN 1 AND 255
            AND shared_bytes BETWEEN 0 AND limits[3] * 1024
            THEN nullif(least(
                limits[1],
                limits[2] // (32 * ceil(threads / 32)),
                -- A warp gets registers in units of 256.
                65536 // (ceil(registers * 32 / 256) * 256 * ceil(threads / 32)),
                limits[3] * 1024
                // nullif(shared_bytes + if(capability LIKE '7.%', 0, 1024), 0)
            ), 0)
    END
)[1];
