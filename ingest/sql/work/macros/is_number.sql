-- `is_number(type, dims)`: whether an argument is a number of Python, from its recorded type and
-- shape. A `double` without axes is one: torch wraps it in a tensor that no device holds.
CREATE MACRO is_number(type, dims) AS
type IN ('Scalar', 'Int', 'Double', 'Bool') OR (type = 'double' AND dims = '[]');
