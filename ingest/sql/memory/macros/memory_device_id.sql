-- `memory_device_id(rank, label)`: the `device_id` of a device from torch's name of it, such as
-- `cuda:0`.
CREATE MACRO memory_device_id(rank, label) AS device_id_of(
    rank, device_of(label), device_type_of(label)
);
