-- `recorded_devices(metadata)`: the devices that the metadata of a trace describe, as in
-- `sources.known_devices`.
CREATE MACRO recorded_devices(metadata) AS list_transform(
    CASE
        WHEN json_type(json_extract(metadata, '$.deviceProperties')) = 'ARRAY'
            THEN from_json(json_extract(metadata, '$.deviceProperties'), '[{
                "id": "BIGINT", "name": "VARCHAR", "totalGlobalMem": "BIGINT",
                "numSms": "INTEGER", "computeMajor": "INTEGER", "computeMinor": "INTEGER"
            }]')
    END,
    LAMBDA device: struct_pack(
        number := device.id,
        name := device.name,
        memory_bytes := device.totalglobalmem,
        multiprocessors := device.numsms,
        capability := device.computemajor || '.' || device.computeminor
    )
);
