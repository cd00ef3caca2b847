"""The file system of S3 for DuckDB. It imports s3fs at its first use, which takes half a second.

Most commands never use it, because they read copies (`kept.py`).
"""

from functools import cached_property
from typing import Any

OWN = ("__class__", "__dict__", "protocol", "async_impl", "s3")  # read before the first use


def s3_on_demand() -> Any:
    """Return a file system with the attributes of `s3fs.S3FileSystem`, made when it is needed."""
    import fsspec

    class OnDemand(fsspec.AbstractFileSystem):  # type: ignore[misc]  # fsspec has no types
        protocol = ("s3", "s3a")
        cachable = False

        def __init__(self) -> None:
            pass  # the one of the base class reads attributes, and so would import s3fs

        @cached_property
        def s3(self) -> Any:
            return fsspec.filesystem("s3", skip_instance_cache=True)

        def __getattribute__(self, name: str) -> Any:
            return super().__getattribute__(name) if name in OWN else getattr(self.s3, name)

    return OnDemand()
