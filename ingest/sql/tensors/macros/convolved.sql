-- `convolved(input, kernel, stride, padding, dilation)`: the sizes of the output of a convolution
-- along its last axes, from the shape of the input, the sizes of the kernel, and the
-- recorded settings, such as `[1, 1]`. Null if a setting is not recorded as numbers, or if there
-- are not as many as axes. Source: the documentation of `torch.nn.Conv2d`.
CREATE MACRO convolved(input, kernel, stride, padding, dilation) AS CASE
    WHEN input IS NOT NULL AND kernel IS NOT NULL THEN list_transform(
        list_zip(
            list_slice(input, len(input) - len(kernel) + 1, len(input)),
            kernel,
            try_cast(stride AS DOUBLE[]),
            try_cast(padding AS DOUBLE[]),
            try_cast(dilation AS DOUBLE[])
        ),
        LAMBDA axis: floor((axis[1] + 2 * axis[4] - axis[5] * (axis[2] - 1) - 1) / axis[3]) + 1
    )
END;
