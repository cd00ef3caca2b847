-- `named_bytes(dtype, size)`: the size of an element of the type that a call names, bytes; `size`
-- if it names none. Null if the type is unknown.
CREATE MACRO named_bytes(dtype, size) AS
if(coalesce(dtype, '') = '', size, number_bytes(dtype));
