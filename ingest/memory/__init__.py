"""Memory beyond what SQL does: reading and replaying it on the way in, reports on the way out."""
