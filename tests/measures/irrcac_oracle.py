"""Runs irrCAC 0.4.4 (GPL, test only) in a virtual environment of its own: it pins an old SciPy.

    python irrcac_oracle.py < cases.json > results.json

Input: {"cases": [{"matrix": items x raters with null, "categories": [...], "weights": "identity"}]}. Output:
{"datasets": {name: matrix}, "results": [{"ac": {"value", "se", "ci"} or null, ...}]}. The environment is made in
.cache/irrcac at the project root when it is not there; exit status 3 when it cannot be made.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

PIN = "irrCAC==0.4.4"
HOME = Path(__file__).resolve().parents[2] / ".cache" / "irrcac"
METHODS = {"ac": "gwet", "fleiss": "fleiss", "conger": "conger", "bp": "bp", "alpha": "krippendorff"}


def environment() -> Path:
    """Return the interpreter that has irrCAC, creating its environment on the first call."""
    python = HOME / "bin" / "python"
    check = [str(python), "-c", "import irrCAC.raw"]
    if python.exists() and subprocess.run(check, capture_output=True, check=False).returncode == 0:
        return python
    try:
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(HOME)], check=True, capture_output=True)
        subprocess.run([str(python), "-m", "pip", "install", "-q", PIN], check=True, capture_output=True, timeout=300)
        subprocess.run(check, check=True, capture_output=True)
    except (subprocess.SubprocessError, OSError) as error:
        detail = getattr(error, "stderr", b"") or b""
        sys.stderr.write(f"irrCAC cannot be installed: {error} {detail.decode(errors='replace')[-500:]}\n")
        raise SystemExit(3) from error
    return python


def measure(case: dict[str, Any]) -> dict[str, Any]:
    """Return every coefficient of a case; null where irrCAC fails."""
    import pandas as pd  # type: ignore[import-untyped, unused-ignore]
    from irrCAC.raw import CAC  # type: ignore[import-not-found, unused-ignore]

    frame = pd.DataFrame([[math.nan if v is None else v for v in row] for row in case["matrix"]])
    found: dict[str, Any] = {}
    for name, method in METHODS.items():
        try:
            cac = CAC(frame, weights=case["weights"], categories=list(case["categories"]))
            est = getattr(cac, method)()["est"]
            numbers = [float(est["coefficient_value"]), float(est["se"]), *map(float, est["confidence_interval"])]
        except Exception:  # irrCAC raises various errors on degenerate data
            found[name] = None
            continue
        value, se, low, high = (None if math.isnan(v) else v for v in numbers)
        found[name] = {"value": value, "se": se, "ci": [low, high]}
    return found


def datasets() -> dict[str, Any]:
    """Return irrCAC's sample ratings as matrices, None where missing."""
    import irrCAC.datasets as source  # type: ignore[import-not-found, unused-ignore]

    found = {}
    for name in ("raw_4raters", "raw_5observers", "raw_g1g2", "raw_gender", "raw_ben_gerry", "distrib_6raters"):
        frame = getattr(source, name)()
        rows = frame.to_numpy().tolist()
        found[name] = [[None if v is None or v != v else v for v in row] for row in rows]
    return found


def main() -> None:
    if os.environ.get("IRRCAC_INSIDE"):
        given = json.load(sys.stdin)
        with contextlib.redirect_stdout(sys.stderr):
            answer = {"datasets": datasets(), "results": [measure(case) for case in given["cases"]]}
        json.dump(answer, sys.stdout)
        return
    inside = {**os.environ, "IRRCAC_INSIDE": "1", "PYTHONWARNINGS": "ignore"}
    inside.pop("PYTHONPATH", None)
    done = subprocess.run([str(environment()), __file__], env=inside, check=False)
    raise SystemExit(done.returncode)


if __name__ == "__main__":
    main()
