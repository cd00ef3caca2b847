-- `advice_of_cause(cause)`: the kind of advice that counts all idle time of a cause; null if there
-- is none.
CREATE MACRO advice_of_cause(cause) AS CASE cause
    WHEN 'host' THEN 'host_bound'
    WHEN 'compile' THEN 'recompiled'
    WHEN 'sync' THEN 'blocking'
    WHEN 'dataloader' THEN 'dataloader'
END;
