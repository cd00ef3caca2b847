-- Device activities that compute or communicate, as input of `islands`.
-- One row: an activity, as in `kernels`.
SELECT * FROM kernels WHERE class IN ('compute', 'communication');
