-- `device_of(label)`: the number of a device that torch calls `label`: 0 of `cuda:0`; null where it
-- has none, as `cpu`.
CREATE MACRO device_of(label) AS try_cast(split_part(label, ':', 2) AS BIGINT);
