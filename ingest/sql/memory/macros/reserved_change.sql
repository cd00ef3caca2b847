-- `reserved_change(action, bytes)`: the bytes that an action adds to the device memory held by the
-- allocator.
CREATE MACRO reserved_change(action, bytes) AS CASE
    WHEN action IN ('segment_alloc', 'segment_map') THEN bytes
    WHEN action IN ('segment_free', 'segment_unmap') THEN -bytes
    ELSE 0
END;
