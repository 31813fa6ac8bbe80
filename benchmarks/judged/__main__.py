"""Print the agreement of the two judgements, and the rule's precision with its interval."""

import csv
from pathlib import Path

from measures.agreement import Ratings, fleiss, gwet_ac, prepare, wilson_interval

JUDGED = Path(__file__).with_name("wording_m3.csv")
WRONG = "wrong"


def rows() -> list[dict[str, str]]:
    with JUDGED.open(encoding="utf-8", newline="") as file:
        return [row for row in csv.DictReader(file) if row["first"] and row["second"]]


def main() -> None:
    judged = rows()
    same = sum(row["first"] == row["second"] for row in judged)
    print(f"judged twice: {len(judged)}; the same: {same} ({same / len(judged):.0%})")
    said = [(row["unit"], by, row[by]) for row in judged for by in ("first", "second")]
    ratings = Ratings.from_triples(said, ("right", "unclear", WRONG))
    basis = prepare(ratings)
    for name, coefficient in (("AC1", gwet_ac(basis)), ("Fleiss' kappa", fleiss(basis))):
        low, high = coefficient.ci or (float("nan"), float("nan"))
        print(f"{name} {coefficient.value:.2f} [{low:.2f}, {high:.2f}], n = {len(judged)}")
    for first in (10, 25, len(judged)):
        for name, which in (("both say wrong", all), ("either says wrong", any)):
            hits = sum(which(row[by] == WRONG for by in ("first", "second")) for row in judged[:first])
            low, high = wilson_interval(hits, first)
            print(f"first {first}: {name} {hits} of {first} = {hits / first:.2f} [{low:.2f}, {high:.2f}]")


if __name__ == "__main__":
    main()
