-- Device activities that are compute kernels, for `islands`.
-- One row: an activity, as in `kernels`.
SELECT * FROM kernels WHERE class = 'compute';
