-- `is_product(kind)`: whether formulas of a kind count multiplications of matrices, which tensor
-- cores and matrix cores compute.
CREATE MACRO is_product(kind) AS kind IN ('product', 'convolution', 'attention');
