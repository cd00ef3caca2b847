-- `advice_of_cause(cause)`: the kind of advice that counts the idle time of a cause; null where no
-- kind counts it as a whole.
CREATE MACRO advice_of_cause(cause) AS CASE cause
    WHEN 'host' THEN 'host_bound'
    WHEN 'compile' THEN 'recompiled'
    WHEN 'sync' THEN 'blocking'
    WHEN 'dataloader' THEN 'dataloader'
END;
