-- What torch.compile did, as it stands in its logs, before any meaning is given to it.
-- One row: a record of a log that tells of a compilation: `what` is its name, `body` its content.
CREATE TABLE staged_compile_records (
    source_id INTEGER,
    ordinal INTEGER,
    compile_id VARCHAR,
    attempt INTEGER,
    what VARCHAR,
    time_ns BIGINT,
    body VARCHAR,
    stack VARCHAR  -- the user's frames, outermost first
);

-- Phases, from their begin to their end; of those of other threads no compilation is known.
CREATE TABLE staged_compile_phases (
    source_id INTEGER,
    compile_id VARCHAR,
    phase VARCHAR,
    start_ns BIGINT,
    end_ns BIGINT
);

-- Graphs for which code was generated, in the order of the log. What the caches call a graph is
-- its key; without caches it has none.
CREATE TABLE staged_graphs (
    source_id INTEGER,
    graph_id INTEGER,
    ordinal INTEGER,
    compile_id VARCHAR,
    attempt INTEGER,
    key VARCHAR,
    aot_id VARCHAR,
    has_origins BOOLEAN
);

-- Nodes of the graphs: of the user's program (stage `program`) and as they were lowered (`aten`).
CREATE TABLE staged_nodes (
    source_id INTEGER,
    graph_id INTEGER,
    stage VARCHAR,
    position INTEGER,
    node VARCHAR,
    target VARCHAR,
    shape VARCHAR,
    file VARCHAR,
    line INTEGER,
    function VARCHAR,
    code VARCHAR
);

-- Of which nodes of the program each lowered node comes.
CREATE TABLE staged_origins (
    source_id INTEGER, graph_id INTEGER, aten_node VARCHAR, nodes VARCHAR[]
);

-- Kernel calls of the generated code, in their order.
CREATE TABLE staged_kernel_calls (
    source_id INTEGER,
    graph_id INTEGER,
    ordinal INTEGER,
    kernel VARCHAR,
    aten_nodes VARCHAR[],
    stacks VARCHAR[]
);

-- What run.json says of compilations; one row a rank.
CREATE TABLE staged_run_json (source_id INTEGER, rank INTEGER, body JSON);
