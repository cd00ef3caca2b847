-- `finite_json(recorded)`: JSON with null in place of the numbers NaN and Infinity, which JSON does
-- not have. Texts stay as recorded.
CREATE MACRO finite_json(recorded) AS CASE
    WHEN
        (contains(recorded, 'NaN') OR contains(recorded, 'nan') OR contains(recorded, 'nf'))
        AND regexp_matches(recorded, '[:,\[]\s*-?(?i:nan|inf(inity)?)\s*[,\]}]')
        THEN array_to_string(list_transform(
            regexp_extract_all(
                recorded, '(?s)"(?:[^"\\]|\\.)*"|-?(?i:nan|inf(?:inity)?)\b|[^"nNiI-]+|.'
            ),
            LAMBDA part: if(regexp_full_match(part, '-?(?i:nan|inf(inity)?)'), 'null', part)
        ), '')
    ELSE recorded
END;
