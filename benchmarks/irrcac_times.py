"""Time irrCAC's coefficients on codes from standard input, in an interpreter that has irrCAC.

python irrcac_times.py ITEMS RATERS < codes (int8, raters x items) > JSON
"""

import contextlib
import json
import sys
import time


def main() -> None:
    import numpy as np
    import pandas as pd  # type: ignore[import-untyped, unused-ignore]
    from irrCAC.raw import CAC  # type: ignore[import-not-found, unused-ignore]

    items, raters = int(sys.argv[1]), int(sys.argv[2])
    codes = np.frombuffer(sys.stdin.buffer.read(), dtype=np.int8).reshape(raters, items)
    frame = pd.DataFrame(codes.T.astype(float))
    spent = {}
    with contextlib.redirect_stdout(sys.stderr):
        for method in ("gwet", "fleiss", "krippendorff"):
            runs = []
            for _ in range(3 if items < 10_000 else 1):
                start = time.perf_counter()
                getattr(CAC(frame, categories=[0.0, 1.0, 2.0, 3.0]), method)()
                runs.append(time.perf_counter() - start)
            spent[method] = min(runs)
    json.dump(spent, sys.stdout)


if __name__ == "__main__":
    main()
