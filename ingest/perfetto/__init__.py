"""Perfetto's UI for traces of the store: the page that shows a trace, and the server's routes."""
