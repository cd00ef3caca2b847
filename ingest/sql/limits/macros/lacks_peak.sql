-- `lacks_peak(flops, is_product, has_peak)`: whether the peaks for more than 1 % of the operations
-- of the products of a group are unknown. Types that hardly count may lack a peak.
CREATE MACRO lacks_peak(flops, is_product, has_peak) AS coalesce(
    sum(flops) FILTER (WHERE is_product AND NOT has_peak)
    > 0.01 * sum(flops) FILTER (WHERE is_product),
    FALSE
);
