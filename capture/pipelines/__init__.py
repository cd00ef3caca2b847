"""The pipelines that `capture` can build, one module a model family."""
