-- Profiles of MegEngine as recorded, entry by entry.
-- One row: an entry of a section (host, device, opr_footprint, opr_internal_pf, operator, var,
-- mem_chunk, comp_seq); `key` is its key, or its position in a list.
CREATE TABLE staged_megengine (
    source_id INTEGER, section VARCHAR, ordinal BIGINT, key VARCHAR, value JSON
);
