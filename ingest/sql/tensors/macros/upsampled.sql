-- `upsampled(input, kernel, stride, padding, output_padding, dilation)`: the sizes of the output of
-- a transposed convolution along its last axes, like `convolved`. Source: the documentation of
-- `torch.nn.ConvTranspose2d`.
CREATE MACRO upsampled(input, kernel, stride, padding, output_padding, dilation) AS CASE
    WHEN input IS NOT NULL AND kernel IS NOT NULL THEN list_transform(
        list_zip(
            list_slice(input, len(input) - len(kernel) + 1, len(input)),
            kernel,
            try_cast(stride AS DOUBLE[]),
            try_cast(padding AS DOUBLE[]),
            try_cast(output_padding AS DOUBLE[]),
            try_cast(dilation AS DOUBLE[])
        ),
        LAMBDA axis:
        (axis[1] - 1) * axis[3] - 2 * axis[4] + axis[6] * (axis[2] - 1) + axis[5] + 1
    )
END;
