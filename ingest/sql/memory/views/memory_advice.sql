-- Checks for what could save memory on a device: for each kind of finding, how many bytes it
-- concerns, or why it cannot be judged. Several kinds can concern the same memory, so their bytes
-- do not add up.
-- One row: a kind of finding, for a device in an input file.
--
-- A finding must concern at least 1 % of the device's peak, and at least 1 MiB.
--
-- These kinds are not in `advice/kinds/`, because they are about bytes of a device in a file, not
-- about the time of steps.
--
-- run_id, source_id, rank, device_id, device_type, device
-- kind            fragmentation: free memory between allocations that cannot be released (stranded,
--                 as in `memory_map`), at the first out-of-memory error, or else at the peak.
--                 expandable_segments: the same memory, if the snapshot records that expandable
--                 segments are off. largest_owners: the three owners that hold the most at the
--                 peak, as in `memory_by_owner`. leak: the memory left by lines of code that are
--                 growing in `leaks`
-- bytes           memory that the finding concerns, bytes; null if it cannot be judged
-- percent         share of the device's peak; more than 100 if more memory was free than was ever
--                 in use
-- finding         the finding, in a sentence; null if nothing was found, or too little
-- remedy
-- unknown_reason  why the kind cannot be judged; null if it can
WITH
kinds AS (
    SELECT unnest(['fragmentation', 'expandable_segments', 'largest_owners', 'leak']) AS kind
),

-- The moment of each device that is examined: its first error, or else its peak.
tight_moments AS NOT MATERIALIZED (
    SELECT
        run_id,
        source_id,
        device_id,
        device_type,
        device,
        arg_min(ordinal, (NOT is_error, ordinal)) AS ordinal,
        bool_or(is_error) AS is_error,
        max(actions) AS actions
    FROM (
        SELECT *, TRUE AS is_error FROM memory_events WHERE action = 'oom'
        UNION ALL BY NAME
        SELECT *, peak_ordinal AS ordinal, FALSE AS is_error
        FROM memory_peak
        WHERE origin = 'snapshot'
    )
    GROUP BY ALL
),

replayed_moments AS NOT MATERIALIZED (
    SELECT * FROM tight_moments WHERE ordinal < actions - 1
),

-- `memory_map` has these too, but through it DuckDB would read the files of all runs for one run.
segments AS (
    SELECT
        run_id,
        source_id,
        device_id,
        sum(bytes) AS bytes,
        CASE
            WHEN bool_or(state <> 'free')
                THEN sum(
                    bytes - whole_page_bytes((address - segment_address)::BIGINT, bytes, page_bytes)
                ) FILTER (WHERE state = 'free')
        END AS stranded_bytes
    FROM memory_layout_at('replayed_moments')
    GROUP BY run_id, source_id, device_id, segment_address
    UNION ALL
    SELECT
        moment.run_id,
        moment.source_id,
        moment.device_id,
        segment.bytes,
        segment.stranded_bytes
    FROM tight_moments AS moment
    INNER JOIN fragmentation AS segment USING (run_id, source_id, device_id)
    WHERE segment.level = 'segment' AND moment.ordinal >= moment.actions - 1
),

stranded AS (
    SELECT
        run_id,
        source_id,
        device_id,
        sum(bytes) AS reserved_bytes,
        coalesce(sum(stranded_bytes), 0) AS bytes,
        count(*) FILTER (WHERE stranded_bytes > 0) AS segments
    FROM segments
    GROUP BY run_id, source_id, device_id
),

settings AS (
    SELECT run_id, source_id, lower(value) = 'true' AS is_expandable
    FROM allocator_settings
    WHERE setting = 'expandable_segments'
),

owners AS (
    SELECT
        *,
        dense_rank() OVER (
            PARTITION BY run_id, source_id, device_id
            ORDER BY list_position(['frame', 'op', 'category', 'module'], level)
        ) AS choice
    FROM memory_by_owner
    WHERE is_known AND level <> 'stack'
),

largest AS (
    SELECT
        run_id,
        source_id,
        device_id,
        list(bytes ORDER BY bytes DESC, name) FILTER (WHERE percent >= 1) AS sizes,
        list(
            format('{} ({:.1f}%)', name, percent) ORDER BY bytes DESC, name
        ) FILTER (WHERE percent >= 1) AS shares,
        sum(percent) AS known_percent
    FROM owners
    WHERE choice = 1
    GROUP BY run_id, source_id, device_id
),

growing AS (
    SELECT
        run_id,
        source_id,
        device_id,
        sum(bytes) AS bytes,
        sum(bytes_a_step) AS bytes_a_step,
        count(*) AS lines,
        arg_min(user_frame, (-bytes, user_frame)) AS user_frame
    FROM leaks
    WHERE is_growing
    GROUP BY run_id, source_id, device_id
),

steps AS (
    SELECT run_id, source_id, device_id, count(*) AS steps
    FROM memory_steps
    GROUP BY run_id, source_id, device_id
),

facts AS (
    SELECT
        peak.run_id,
        peak.source_id,
        peak.rank,
        peak.device_id,
        peak.device_type,
        peak.device,
        peak.peak_bytes,
        kinds.kind,
        CASE kinds.kind
            WHEN 'largest_owners' THEN coalesce(list_sum(largest.sizes[:3]), 0)
            WHEN 'leak' THEN coalesce(growing.bytes, 0)
            WHEN 'expandable_segments' THEN if(settings.is_expandable, 0, stranded.bytes)
            ELSE stranded.bytes
        END::BIGINT AS bytes,
        stranded.reserved_bytes,
        stranded.bytes AS stranded_bytes,
        stranded.segments,
        if(peak.actions < 2, 'when the snapshot was taken', 'at the peak') AS at_peak,
        tight.is_error,
        largest.shares[:3] AS shares,
        growing.lines,
        growing.bytes_a_step,
        growing.user_frame,
        CASE
            WHEN kinds.kind IN ('fragmentation', 'expandable_segments')
                THEN CASE
                    WHEN peak.origin <> 'snapshot' THEN 'only a snapshot records segments'
                    WHEN stranded.bytes IS NULL THEN 'the snapshot has no segments'
                    WHEN kinds.kind = 'expandable_segments' AND settings.is_expandable IS NULL
                        THEN 'the snapshot does not record this setting; PyTorch 2.3 and later do'
                END
            WHEN peak.allocations = 0 AND (kinds.kind = 'leak' OR peak.origin <> 'timeline')
                THEN 'no allocation can be followed'
            WHEN kinds.kind = 'largest_owners' AND coalesce(largest.known_percent, 0) < 1
                THEN 'the owners of at least 99% of the memory were not recorded'
            WHEN kinds.kind = 'leak' AND peak.actions < 2 THEN 'the snapshot has no history'
            WHEN kinds.kind = 'leak' AND coalesce(steps.steps, 0) < 3
                THEN 'fewer than three steps are known'
        END AS unknown_reason
    FROM memory_peak AS peak
    CROSS JOIN kinds
    LEFT JOIN tight_moments AS tight USING (run_id, source_id, device_id)
    LEFT JOIN stranded USING (run_id, source_id, device_id)
    LEFT JOIN settings USING (run_id, source_id)
    LEFT JOIN largest USING (run_id, source_id, device_id)
    LEFT JOIN growing USING (run_id, source_id, device_id)
    LEFT JOIN steps USING (run_id, source_id, device_id)
    WHERE peak.device_type <> 'cpu' OR kinds.kind IN ('largest_owners', 'leak')
)

SELECT
    run_id,
    source_id,
    facts.rank,
    device_id,
    device_type,
    device,
    kind,
    if(unknown_reason IS NULL, bytes, NULL) AS bytes,
    if(unknown_reason IS NULL, 100.0 * bytes / nullif(peak_bytes, 0), NULL) AS percent,
    CASE
        WHEN unknown_reason IS NOT NULL OR bytes < 1048576 OR bytes < 0.01 * peak_bytes THEN NULL
        WHEN kind = 'fragmentation'
            THEN format(
                '{:.1f}% of the reserved memory was free {}, but in {}: only requests that fit '
                'there can use it.',
                100.0 * stranded_bytes / reserved_bytes,
                if(is_error, 'when memory ran out', at_peak),
                if(
                    segments = 1,
                    'a segment that also holds allocations',
                    format('{:,} segments that also hold allocations', segments)
                )
            )
        WHEN kind = 'expandable_segments'
            THEN concat(
                'Expandable segments are off. They grow in place, so less memory stays free ',
                'between allocations.'
            )
        WHEN kind = 'largest_owners'
            THEN format('Largest owners {}: {}.', at_peak, array_to_string(shares, ', '))
        WHEN kind = 'leak'
            THEN format(
                'A step leaves {:,.2f} MiB behind, {}{}.',
                bytes_a_step / 1048576,
                if(lines = 1, 'at ', format('at {:,} lines of code, most of it at ', lines)),
                user_frame
            )
    END AS finding,
    CASE kind
        WHEN 'fragmentation'
            THEN 'Allocate long-lived memory first, keep batches of one shape, and reuse buffers.'
        WHEN 'expandable_segments' THEN 'Set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True.'
        WHEN 'largest_owners'
            THEN remedy_text(
                [
                    {
                        'text': 'Free it sooner, or use a smaller type or a smaller batch.',
                        'unless': []
                    },
                    {
                        'text': 'Recompute activations in the backward pass (checkpointing).',
                        'unless': ['inference']
                    }
                ],
                features
            )
        WHEN 'leak'
            THEN concat(
                'Look for references that keep tensors alive, such as a list of losses, a cache ',
                'or a hook; detach tensors before you store them.'
            )
    END AS remedy,
    unknown_reason
FROM facts
INNER JOIN run_features USING (run_id);
