-- `recorded_kind(name)`: what a call of CUDA or HIP records in a graph that is being captured:
-- kernel, memcpy, memset or graph; null for other calls.
CREATE MACRO recorded_kind(name) AS CASE
    WHEN regexp_matches(name, '^(cuda|cu|hip)[A-Za-z]*Launch[A-Za-z]*Kernel') THEN 'kernel'
    WHEN is_graph_launch(name) THEN 'graph'
    WHEN regexp_matches(name, '^(cuda|cu|hip)Memcpy\w*(Async|WithStream)') THEN 'memcpy'
    WHEN regexp_matches(name, '^(cuda|cu|hip)Memset\w*Async') THEN 'memset'
END;
