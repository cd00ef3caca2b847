-- `uses_matrix_cores(kernel)`: whether the name of a kernel shows that it uses tensor cores, or the
-- matrix instructions of AMD. The kernels of cuBLAS, cuDNN, CUTLASS and Tensile have them in their
-- names.
CREATE MACRO uses_matrix_cores(kernel) AS regexp_matches(kernel, concat(
    '(?i)tf32|xf32|tensor_?op|[fh]p?16|[sh]884|1688|16816|',
    'wgmma|wmma|mfma|xdlops|hgemm|hmma|qmma|nvjet|fmha|flash_[fb]wd|bmm_(Mx|BFloat16|E[245]m)|',
    '^Cijk_.*_MI\d+x'
));
