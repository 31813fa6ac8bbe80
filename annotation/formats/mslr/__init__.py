"""Import MSLR2022 (Wang et al., 2022): tables of inputs, targets and backgrounds of one split (CSV)."""

from pathlib import Path

from ...imports.format import Format, Level
from .stream import PARTS, MSLRStream


class MSLR(Format):
    key = "mslr"
    title = "MSLR: inputs, targets and backgrounds of a split (CSV)"
    levels = (Level("train", "training set"), Level("dev", "development set"), Level("test", "test set"))
    licence = "Apache-2.0"
    joins = streams = is_whole = True

    def files_of(self, folder: Path, level: str) -> list[Path]:
        names = [f"{split.key}-{part}.csv" for split in self.levels for part in PARTS if level in ("", split.key)]
        return [folder / name for name in names if (folder / name).is_file()]

    def stream(self, level: str, name: str = "") -> MSLRStream:
        return MSLRStream(level)
