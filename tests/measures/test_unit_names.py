import pytest

from measures.unit_names import unit_name


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("27105707", "PMID 27105707"),
        ("27105707~2", "PMID 27105707"),
        ("27105707_1", "PMID 27105707, conclusion 2"),
        ("27105707_1/0", "PMID 27105707, conclusion 2"),
        ("26258610_0/4~2", "PMID 26258610, conclusion 1, input 4"),
        ("27105707_1 9806290", "PMID 27105707, conclusion 2, study 9806290"),
        ("3-00012", "Rating page 12"),
        ("match-3-7", "Matching page 7"),
        ("rewritten-41", "Rewritten text 41"),
        ("17", "17"),
        ("Cochrane 2019, outcome 3", "Cochrane 2019, outcome 3"),
        ("", ""),
    ],
)
def test_a_key_has_a_name_for_people(key: str, name: str) -> None:
    assert unit_name(key) == name
