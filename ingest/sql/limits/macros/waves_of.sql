-- `waves_of(launch, capability, multiprocessors)`: how often a launch fills the whole device with
-- blocks, from a struct with its `name`, `grid`, `block`, `registers` and `shared_bytes`. At less
-- than 1, a part of the device is empty. Null if unknown, as on AMD.
CREATE MACRO waves_of(launch, capability, multiprocessors) AS
block_count(launch.name, launch.grid, launch.block) / nullif(
    resident_blocks(
        capability,
        CASE WHEN len(launch.block) > 0 THEN list_product(launch.block) END,
        launch.registers,
        launch.shared_bytes
    ) * multiprocessors,
    0
);
