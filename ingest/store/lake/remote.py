"""Object storage by the scheme of its URLs: packages, options of Delta, file system of DuckDB."""

import os
from functools import cached_property
from importlib.util import find_spec
from typing import Any

from ingest.errors import StoreError

# The packages of fsspec, and what a user installs to get them.
PACKAGES = {
    "s3": ("s3fs", "'tracehouse[lake]'"),
    "gs": ("gcsfs", "gcsfs"),
    "az": ("adlfs", "adlfs"),
}
PROFILES = ("AWS_PROFILE", "AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE")
# What fsspec and DuckDB read to register a file system. Any other attribute imports its package.
OWN = ("__class__", "__dict__", "protocol", "async_impl", "made")


def check_packages(scheme: str) -> None:
    """Raise StoreError if a package for a scheme is missing. An import would take long."""
    needed = [("deltalake", PACKAGES["s3"][1]), PACKAGES.get(scheme, ("fsspec", PACKAGES["s3"][1]))]
    for package, wanted in needed:
        if not find_spec(package):
            raise StoreError(f"a store at a URL needs more packages: pip install {wanted}")


def options(scheme: str) -> dict[str, str]:
    """Return the storage options of Delta. It reads credentials in variables of the environment.

    Those of a profile of AWS come from botocore, which s3fs uses.
    """
    if scheme != "s3":
        return {}
    found = {"aws_conditional_put": "etag"}
    if "AWS_ACCESS_KEY_ID" not in os.environ and any(map(os.environ.get, PROFILES)):
        found |= _of_profile()
    if endpoint := os.environ.get("AWS_ENDPOINT_URL", ""):
        if not endpoint.startswith(("http://", "https://")):
            raise StoreError("AWS_ENDPOINT_URL must begin with http:// or https://")
        found["AWS_ENDPOINT_URL"] = endpoint
        if endpoint.startswith("http://"):
            found["AWS_ALLOW_HTTP"] = "true"
    return found


def on_demand(scheme: str) -> Any:
    """Return a file system of fsspec, which is imported at its first use.

    The import takes half a second. Most commands need none, because they read copies (`kept.py`).
    """
    import fsspec

    class OnDemand(fsspec.AbstractFileSystem):  # type: ignore[misc]  # fsspec has no types
        protocol = scheme
        cachable = False

        def __init__(self) -> None:
            pass  # the one of the base class reads attributes, and so would import the package

        @cached_property
        def made(self) -> Any:
            return fsspec.filesystem(scheme, skip_instance_cache=True)

        def __getattribute__(self, name: str) -> Any:
            return super().__getattribute__(name) if name in OWN else getattr(self.made, name)

    return OnDemand()


def _of_profile() -> dict[str, str]:
    """Return the storage options for the credentials of a profile."""
    import botocore.exceptions
    import botocore.session

    session = botocore.session.get_session()
    try:
        found = session.get_credentials()
        region = session.get_config_variable("region")
    except botocore.exceptions.BotoCoreError as error:
        raise StoreError(str(error)) from error
    if not found:
        return {}
    keys = found.get_frozen_credentials()
    options = {"AWS_ACCESS_KEY_ID": keys.access_key, "AWS_SECRET_ACCESS_KEY": keys.secret_key}
    if keys.token:
        options["AWS_SESSION_TOKEN"] = keys.token
    return options | ({"AWS_REGION": region} if region else {})
