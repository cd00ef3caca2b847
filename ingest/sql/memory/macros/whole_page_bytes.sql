-- `whole_page_bytes(offset_bytes, bytes, page_bytes)`: the bytes of whole pages in a range of a
-- segment that begins at an offset. The allocator can give these back to the device while they are
-- free. Pages are counted from the start of the segment; 0 if the segment has no pages.
CREATE MACRO whole_page_bytes(offset_bytes, bytes, page_bytes) AS coalesce(
    page_bytes * greatest(
        0, (offset_bytes + bytes) // page_bytes - (offset_bytes + page_bytes - 1) // page_bytes
    ),
    0
);
