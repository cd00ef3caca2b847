"""The commands that profile diffusers pipelines, and the tiny pipelines that they can build."""
