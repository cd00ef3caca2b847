-- Lives of all allocations, as ordinals of the actions of their device.
-- One row: an allocation, as in `replayed_lives`.
FROM replayed_lives
UNION ALL BY NAME
FROM standing_lives;
