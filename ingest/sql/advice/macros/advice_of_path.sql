-- `advice_of_path(kind)`: the kind of advice about a kind of interval on the critical path; null if
-- there is none.
CREATE MACRO advice_of_path(kind) AS CASE kind
    WHEN 'host' THEN 'host_bound'
    WHEN 'compile' THEN 'recompiled'
    WHEN 'sync' THEN 'blocking'
    WHEN 'dataloader' THEN 'dataloader'
    WHEN 'communication' THEN 'exposed_communication'
    WHEN 'copy' THEN 'exposed_copy'
END;
