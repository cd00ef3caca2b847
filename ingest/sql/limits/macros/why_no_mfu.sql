-- `why_no_mfu(flops, lacks_peak, product_ns)`: why the model FLOP utilisation is unknown; null if
-- it is known.
CREATE MACRO why_no_mfu(flops, lacks_peak, product_ns) AS CASE
    WHEN flops IS NULL THEN 'no_work'
    WHEN lacks_peak THEN 'no_peak'
    WHEN product_ns IS NULL THEN 'no_products'
END;
