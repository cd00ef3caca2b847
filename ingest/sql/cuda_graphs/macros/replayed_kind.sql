-- `replayed_kind(category, name)`: what a device activity of a graph was recorded as: kernel,
-- memcpy or memset. ROCm copies and fills with kernels of its own.
CREATE MACRO replayed_kind(category, name) AS CASE
    WHEN name LIKE '\_\_amd\_rocclr\_copy%' ESCAPE '\' THEN 'memcpy'
    WHEN name LIKE '\_\_amd\_rocclr\_fill%' ESCAPE '\' THEN 'memset'
    ELSE replace(category, 'gpu_', '')
END;
