-- Adds the kernel times of source $source_id to `staged_activities`: the device and the stream of
-- their comp node.
INSERT INTO staged_activities BY NAME
SELECT
    event.source_id,
    event.event_id,
    node.device,
    node.stream
FROM staged AS event
INNER JOIN staged_megengine_comp_nodes AS node
    ON event.source_id = node.source_id AND event.pid = node.comp_node
WHERE event.source_id = $source_id AND event.side = 'device';
