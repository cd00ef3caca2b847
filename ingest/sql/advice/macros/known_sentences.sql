-- `known_sentences(templates, texts)`: the sentences whose values are all known. A template names
-- values in braces, such as `{idle}`; `texts` maps these, with their braces, to their texts. The
-- text of an unknown value is null.
CREATE MACRO known_sentences(templates, texts) AS list_transform(
    list_filter(
        list_transform(
            templates,
            LAMBDA template: list_transform(
                regexp_extract_all(template, '\{\w+\}|[^{]+'),
                LAMBDA piece: if(starts_with(piece, '{'), texts[piece], piece)
            )
        ),
        LAMBDA pieces: list_count(pieces) = len(pieces)
    ),
    LAMBDA pieces: array_to_string(pieces, '')
);
