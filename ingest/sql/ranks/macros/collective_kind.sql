-- `collective_kind(name)`: the kind of a collective or point-to-point call, from its recorded name,
-- such as `nccl:_all_gather_base`, or from the name of a kernel. Null if it is unknown.
CREATE MACRO collective_kind(name) AS CASE regexp_extract(
    replace(lower(name), '_', ''),
    concat(
        'allreduce|crossdevicereduce|allgather|alltoall|reducescatter|broadcast|barrier|sendrecv|',
        'scatter|gather|reduce|send|recv|receive'
    )
)
    WHEN 'allreduce' THEN 'all_reduce'
    WHEN 'crossdevicereduce' THEN 'all_reduce'
    WHEN 'allgather' THEN 'all_gather'
    WHEN 'alltoall' THEN 'all_to_all'
    WHEN 'reducescatter' THEN 'reduce_scatter'
    WHEN 'broadcast' THEN 'broadcast'
    WHEN 'barrier' THEN 'barrier'
    WHEN 'sendrecv' THEN 'send_recv'
    WHEN 'scatter' THEN 'scatter'
    WHEN 'gather' THEN 'gather'
    WHEN 'reduce' THEN 'reduce'
    WHEN 'send' THEN 'send'
    WHEN 'recv' THEN 'recv'
    WHEN 'receive' THEN 'recv'
END;
