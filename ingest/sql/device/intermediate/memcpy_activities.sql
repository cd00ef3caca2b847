-- Device activities that are memory copies, as input of `islands`.
-- One row: an activity, as in `kernels`.
SELECT * FROM kernels WHERE kind = 'memcpy';
