"""The file system of S3 for DuckDB, which imports s3fs at its first use. That takes half a second.

Most commands never use it, because they read copies (`kept.py`).
"""

from functools import cached_property
from typing import Any

import fsspec
from fsspec import AbstractFileSystem

OWN = ("__class__", "__dict__", "protocol", "async_impl", "s3")  # read before the first use


class S3OnDemand(AbstractFileSystem):  # type: ignore[misc]  # fsspec has no types
    """`s3fs.S3FileSystem`, whose attributes are read from one that is made when needed."""

    protocol = ("s3", "s3a")
    cachable = False

    def __init__(self) -> None:
        pass  # that of the base class reads attributes

    @cached_property
    def s3(self) -> Any:
        """The file system itself."""
        return fsspec.filesystem("s3", skip_instance_cache=True)

    def __getattribute__(self, name: str) -> Any:
        if name in OWN:
            return super().__getattribute__(name)
        return getattr(self.s3, name)
