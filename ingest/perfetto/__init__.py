"""Perfetto's own UI on traces of the store: a page that shows one, and the routes that serve it."""
