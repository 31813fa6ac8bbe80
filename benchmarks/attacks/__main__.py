"""`python -m benchmarks.attacks NAME < JSON > JSON`: one attack, from "ready" on its error output until its time is up.

It gives way to everything else on the machine: an attacker has a machine of their own, and what is measured is what
the attack does to the server, not what it costs to attack.
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
