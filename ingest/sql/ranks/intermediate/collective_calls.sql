-- Collectives and point-to-point calls of each rank, before they are matched across ranks.
-- One row: a kernel that communicates, or a call that the host computes.
-- Materialised: several relations read it.
WITH
-- Of a host's collective, the only group that fits.
only_groups AS (
    SELECT
        source_id,
        any_value(process_group_id) AS process_group_id,
        any_value(ranks) AS ranks
    FROM file_groups
    WHERE group_size > 1 AND coalesce(backend NOT LIKE '%nccl%' OR backend LIKE '%gloo%', TRUE)
    GROUP BY source_id
    HAVING count(*) = 1
),

launched AS (
    SELECT
        kernels.source_id,
        kernels.rank,
        kernels.event_id AS collective_id,
        kernels.op_id,
        kernels.device_id,
        kernels.stream,
        kernels.start_ns,
        kernels.dur_ns,
        kernels.step,
        kernels.name,
        own,
        host
    FROM communication_kernels AS kernels
    LEFT JOIN staged_collectives AS own ON kernels.event_id = own.event_id
    LEFT JOIN staged_collectives AS host ON kernels.op_id = host.event_id
),

calls AS (
    SELECT
        * EXCLUDE (name, own, host),
        coalesce(
            collective_kind(own.collective),
            collective_kind(host.collective),
            collective_kind(name)
        ) AS kind,
        coalesce(own.group_name, host.group_name) AS group_name,
        coalesce(own.seq, host.seq) AS seq,
        scalar_dtype(coalesce(own.dtype, host.dtype)) AS dtype,
        coalesce(own.in_elements, host.in_elements) AS in_elements,
        coalesce(own.out_elements, host.out_elements) AS out_elements,
        len(coalesce(own.in_splits, host.in_splits, []))
        + len(coalesce(own.out_splits, host.out_splits, [])) > 0 AS has_splits,
        coalesce(own.root_rank, host.root_rank) AS root_rank,
        coalesce(own.source_rank, host.source_rank) AS source_rank,
        coalesce(own.target_rank, host.target_rank) AS target_rank
    FROM launched
    UNION ALL BY NAME
    SELECT
        host.source_id,
        host.rank,
        host.event_id AS collective_id,
        host.op_id,
        device_id_of(host.rank, NULL) AS device_id,
        host.start_ns,
        host.dur_ns,
        ops.step,
        host.kind,
        entries.group_name,
        entries.seq,
        scalar_dtype(host.input_types[1]) AS dtype,
        try_cast(list_elements(host.input_sizes) AS BIGINT) AS in_elements,
        FALSE AS has_splits,
        host.root_rank,
        host.peer
    FROM host_collectives AS host
    LEFT JOIN ops ON host.op_id = ops.event_id
    LEFT JOIN recorded_ops AS entries ON host.op_id = entries.op_id
)

SELECT
    calls.source_id,
    calls.rank,
    calls.collective_id,
    calls.op_id,
    calls.device_id,
    calls.stream,
    calls.start_ns,
    calls.dur_ns,
    calls.step,
    coalesce(files.cycle, 1) AS cycle,
    coalesce(groups.process_group_id, only_groups.process_group_id) AS process_group_id,
    calls.kind,
    coalesce(calls.kind IN ('send', 'recv', 'send_recv'), FALSE) AS is_point_to_point,
    calls.seq,
    calls.dtype,
    calls.in_elements,
    calls.out_elements,
    coalesce(calls.has_splits, FALSE) AS has_splits,
    calls.root_rank,
    coalesce(groups.ranks, only_groups.ranks)[calls.peer + 1] AS peer_rank,
    CASE calls.kind
        WHEN 'send' THEN calls.rank
        WHEN 'recv' THEN coalesce(calls.source_rank, peer_rank)
    END AS source_rank,
    CASE calls.kind
        WHEN 'recv' THEN calls.rank
        WHEN 'send' THEN coalesce(calls.target_rank, peer_rank)
    END AS target_rank
FROM calls
LEFT JOIN staged_files AS files ON calls.source_id = files.source_id
LEFT JOIN file_groups AS groups
    ON calls.source_id = groups.source_id AND calls.group_name = groups.name
LEFT JOIN only_groups
    ON
        calls.source_id = only_groups.source_id
        AND calls.group_name IS NULL
        AND calls.stream IS NULL;
