"""The uploads that exist, found in the apps that have some."""

from functools import partial

from api.registry import Registry

from ..background import jobs
from . import flow
from .upload import Upload

_UPLOADS: Registry[Upload] = Registry(Upload, "upload")  # type: ignore[type-abstract]
#: The upload of a key; KeyError where there is none.
get = _UPLOADS.get
every = _UPLOADS.every


def discover(package: str) -> None:
    """Make the uploads of a package known, with their jobs: each of its modules has one, a class that extends `Upload`.
    Called from ``AppConfig.ready``, with the app's ``actions.uploads``."""
    for upload in _UPLOADS.discover(package):
        jobs.handler(upload.checks, ended=partial(flow.check_ended, upload))(partial(flow.check, upload))
        if upload.writes:
            jobs.handler(upload.writes, ended=partial(flow.write_ended, upload), told=("Import", upload.page))(
                partial(flow.write, upload)
            )
