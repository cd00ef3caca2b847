-- `device_of(label)`: the number in torch's name of a device: 0 for `cuda:0`; null if there is
-- none, as in `cpu`.
CREATE MACRO device_of(label) AS try_cast(split_part(label, ':', 2) AS BIGINT);
