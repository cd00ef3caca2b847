"""The commands that profile a diffusers pipeline, and the pipelines that they can build."""
