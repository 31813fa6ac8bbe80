"""`python -m tests.processes.tamper_check`: make each change of `tests.audit.tampering` and roll it back.

Prints the changes that were made, and those that the verification did not report.
"""

import json
import sys

import django


def main() -> None:
    django.setup()
    from django.db import transaction

    from audit.verify import findings
    from tests.audit.tampering import tamper

    with transaction.atomic():
        names = tamper()
        found = {finding.what for finding in findings()}
        transaction.set_rollback(True)
    missed = {name: what for name, what in names.items() if what not in found}
    json.dump({"planted": sorted(names), "missed": missed}, sys.stdout)


if __name__ == "__main__":
    main()
