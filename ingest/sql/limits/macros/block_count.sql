-- `block_count(kernel, grid, block)`: how many blocks a launch has; null if unknown. Grids of the
-- kernels of Tensile count work-items.
CREATE MACRO block_count(kernel, grid, block) AS if(len(grid) > 0, list_product(grid), NULL)
// if(starts_with(kernel, 'Cijk_'), nullif(list_product(block), 0), 1);
