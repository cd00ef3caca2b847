-- `device_label(type, number)`: torch's name of a device: `cuda:0`, or `cpu` if the number is null.
CREATE MACRO device_label(type, number) AS concat_ws(':', type, number);
