-- `pooled(input, kernel, stride, padding, dilation, is_ceil)`: the sizes of the output of a pooling
-- along its last axes, from the shape of the input and the recorded settings, such as `[1, 1]`.
-- Without a stride, it is the kernel's size. With `is_ceil`, a last window may go beyond the
-- padding, but begins in the input or in the padding before it. Null if a setting is not recorded
-- as numbers. Source: the documentation of `torch.nn.MaxPool2d`.
CREATE MACRO pooled(input, kernel, stride, padding, dilation, is_ceil) AS CASE
    WHEN input IS NOT NULL THEN list_transform(
        list_zip(
            list_slice(input, len(input) - len(try_cast(kernel AS DOUBLE[])) + 1, len(input)),
            try_cast(kernel AS DOUBLE[]),
            try_cast(if(stride = '[]', kernel, stride) AS DOUBLE[]),
            try_cast(padding AS DOUBLE[]),
            try_cast(dilation AS DOUBLE[])
        ),
        LAMBDA axis: CASE is_ceil
            WHEN 'False'
                THEN floor((axis[1] + 2 * axis[4] - axis[5] * (axis[2] - 1) - 1) / axis[3]) + 1
            WHEN 'True'
                THEN least(
                    ceil((axis[1] + 2 * axis[4] - axis[5] * (axis[2] - 1) - 1) / axis[3]) + 1,
                    ceil((axis[1] + axis[4]) / axis[3])
                )
        END
    )
END;
