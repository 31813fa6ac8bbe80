"""`python -m tests.processes.forged`: every change of `tests.audit.planted` in a house's own rows, taken back at once.

Prints what was planted, and what of it the verification of the log did not name.
"""

import json
import sys

import django


def main() -> None:
    django.setup()
    from django.db import transaction

    from audit.verify import findings
    from tests.audit.planted import planted

    with transaction.atomic():
        names = planted()
        found = {finding.what for finding in findings()}
        transaction.set_rollback(True)
    missed = {name: what for name, what in names.items() if what not in found}
    json.dump({"planted": sorted(names), "missed": missed}, sys.stdout)


if __name__ == "__main__":
    main()
