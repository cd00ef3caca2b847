-- `device_type_of(label)`: the type in torch's name of a device: `cuda` for `cuda:0`, `cpu` for
-- `cpu`.
CREATE MACRO device_type_of(label) AS split_part(label, ':', 1);
