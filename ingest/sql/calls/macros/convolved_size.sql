-- `convolved_size(axis, dims, concrete)`: the output size of a 2D convolution along an axis of its
-- input (3 or 4), from the shapes and scalar values of its inputs.
CREATE MACRO convolved_size(axis, dims, concrete) AS
floor(
    (
        dims[1][axis] - 1
        + 2.0 * try_cast(concrete[5] AS BIGINT[])[axis - 2]
        - try_cast(concrete[6] AS BIGINT[])[axis - 2] * (dims[2][axis] - 1.0)
    ) / nullif(try_cast(concrete[4] AS BIGINT[])[axis - 2], 0)
) + 1;
