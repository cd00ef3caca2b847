-- `device_id_of(rank, device, type)`: the key of a device in a run, such as `0:1` for device 1 of
-- rank 0. Without a number it is `0:host`, or `0:unknown` if torch's `type` is unknown. PyTorch
-- uses one type of accelerator in a process, so the number is enough.
CREATE MACRO device_id_of(rank, device, type := NULL) AS concat(
    rank, ':', coalesce(if(type = 'cpu', 'host', device::VARCHAR), type, 'host')
);
