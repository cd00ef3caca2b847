-- `device_label(type, number)`: what torch calls a device: `cuda:0`, or `cpu` where the number is
-- null.
CREATE MACRO device_label(type, number) AS concat_ws(':', type, number);
