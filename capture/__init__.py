"""Record profiles of models: a directory of profiler output that `ingest add` reads.

`capture.cli` is the command line over `capture.record`, which profiles one call of a diffusers
pipeline, and `capture.pipelines`, which builds such pipelines. Torch is imported when it is used.
"""
