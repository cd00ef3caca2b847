-- Device activities that are compute kernels, as input of `islands`.
-- One row: an activity, as in `kernels`.
SELECT * FROM kernels WHERE class = 'compute';
