"""A release as one zip: the same bytes each time, streamed, no file held in memory."""

import zipfile
from collections.abc import Iterator
from pathlib import Path

from .folder import checked
from .manifest import NAME, Manifest

#: Zip cannot say "no date"; its first day keeps archives of one release alike.
FIRST_DAY = (1980, 1, 1, 0, 0, 0)


class _Pipe:
    """What zipfile writes, handed on in pieces; it only ever looks forward."""

    def __init__(self) -> None:
        self.waiting: list[bytes] = []
        self.place = 0

    def write(self, data: bytes) -> int:
        self.waiting.append(bytes(data))
        self.place += len(data)
        return len(data)

    def tell(self) -> int:
        return self.place

    def flush(self) -> None:
        pass

    def taken(self) -> bytes:
        data, self.waiting = b"".join(self.waiting), []
        return data


def stream(folder: Path, top: str, manifest: Manifest) -> Iterator[bytes]:
    """The zip of a release below one folder named ``top``, the manifest first. Each file is held against its hash while
    it is read; the directory, without which a zip cannot be opened, comes when all of them fit. Raises `Altered`."""
    pipe = _Pipe()
    with zipfile.ZipFile(pipe, "w", zipfile.ZIP_DEFLATED) as archive:  # type: ignore[call-overload]
        contents = [(NAME, len(manifest.content), iter([manifest.content]))]
        contents += [(entry.path, entry.size, checked(folder, entry)) for entry in manifest.entries]
        for path, size, pieces in contents:
            info = zipfile.ZipInfo(f"{top}/{path}", FIRST_DAY)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = 0o644 << 16
            info.file_size = size  # from 2 GiB on a file needs another header
            with archive.open(info, "w") as target:
                for piece in pieces:
                    target.write(piece)
                    yield pipe.taken()
    yield pipe.taken()
