"""`python -m benchmarks.attacks NAME < JSON > JSON`: run one attack, after printing "ready" to standard error.

The process has low priority. A real attacker uses another machine, so only the effect on the server is measured.
"""

import json
import os
import sys

from .bounds import Attack
from .every import ATTACKS


def main() -> None:
    os.nice(19)
    known, attack = ATTACKS[sys.argv[1]], Attack(**json.load(sys.stdin))
    known.prepare(attack)
    print("ready", file=sys.stderr, flush=True)
    attack.begin()
    known.begin(attack)
    json.dump({"became": dict(attack.became.most_common())}, sys.stdout)


if __name__ == "__main__":
    main()
