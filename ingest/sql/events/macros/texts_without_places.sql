-- `texts_without_places(texts, directory)`: `text_without_places` for each text of a list.
CREATE MACRO texts_without_places(texts, directory) AS list_transform(
    texts, LAMBDA message: text_without_places(message, directory)
);
