-- `texts_without_places(texts, directory)`: `text_without_places` of each text of a list.
CREATE MACRO texts_without_places(texts, directory) AS list_transform(
    texts, LAMBDA said: text_without_places(said, directory)
);
