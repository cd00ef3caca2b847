-- Device activities that are memory sets, as input of `islands`.
-- One row: an activity, as in `kernels`.
SELECT * FROM kernels WHERE kind = 'memset';
