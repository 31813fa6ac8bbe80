"""A release as one zip: the same bytes each time, streamed, no file held in memory."""

import zipfile
from collections.abc import Iterator
from pathlib import Path

from .manifest import NAME

#: Zip cannot say "no date"; its first day keeps archives of one release alike.
FIRST_DAY = (1980, 1, 1, 0, 0, 0)
CHUNK = 1 << 18


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


def stream(folder: Path, top: str, paths: list[str]) -> Iterator[bytes]:
    """The zip of these files and the manifest, below one folder named ``top``."""
    pipe = _Pipe()
    with zipfile.ZipFile(pipe, "w", zipfile.ZIP_DEFLATED) as archive:  # type: ignore[call-overload]
        for path in [NAME, *sorted(paths)]:
            info = zipfile.ZipInfo(f"{top}/{path}", FIRST_DAY)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = 0o644 << 16
            with (folder / path).open("rb") as source, archive.open(info, "w") as target:
                while chunk := source.read(CHUNK):
                    target.write(chunk)
                    yield pipe.taken()
    yield pipe.taken()
