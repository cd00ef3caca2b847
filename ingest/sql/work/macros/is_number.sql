-- `is_number(type, dims, is_second)`: whether an argument is a number of Python, from its recorded
-- type and shape, and from whether it is the second operand of a binary operator. A `double`
-- without axes is one: torch wraps it in a tensor that no device holds. So is a second operand that
-- is a 64-bit integer without axes. Elsewhere, that is a tensor: an index, or the counter in
-- `aten::add_(counter, 1)`.
CREATE MACRO is_number(type, dims, is_second) AS
type IN ('Scalar', 'Int', 'Double', 'Bool')
OR (type = 'double' AND dims = '[]')
OR (is_second AND dtype_of(type) = 'int64' AND dims = '[]');
