-- `block_count(kernel, grid, block)`: how many blocks a launch has; null if unknown. Grids of the
-- kernels of Tensile count work-items.
CREATE MACRO block_count(kernel, grid, block) AS list_product(grid)
// if(starts_with(kernel, 'Cijk_'), nullif(list_product(block), 0), 1);
