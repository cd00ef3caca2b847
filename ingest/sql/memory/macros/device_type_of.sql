-- `device_type_of(label)`: the type of a device that torch calls `label`: `cuda` of `cuda:0`, `cpu`
-- of `cpu`.
CREATE MACRO device_type_of(label) AS split_part(label, ':', 1);
