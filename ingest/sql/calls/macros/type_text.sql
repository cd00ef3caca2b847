-- `type_text(input_type)`: the usual short name of a tensor's recorded type, for example `bf16`;
-- null for a list of tensors.
CREATE MACRO type_text(input_type) AS CASE input_type
    WHEN 'c10::BFloat16' THEN 'bf16'
    WHEN 'c10::Half' THEN 'fp16'
    WHEN 'float' THEN 'fp32'
    WHEN 'double' THEN 'fp64'
    WHEN 'long int' THEN 'i64'
    WHEN 'long' THEN 'i64'
    WHEN 'long unsigned int' THEN 'u64'
    WHEN 'int' THEN 'i32'
    WHEN 'short int' THEN 'i16'
    WHEN 'signed char' THEN 'i8'
    WHEN 'unsigned char' THEN 'u8'
    WHEN 'TensorList' THEN NULL
    ELSE replace(replace(input_type, 'c10::', ''), 'Float8', 'fp8')
END;
