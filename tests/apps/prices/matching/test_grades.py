"""Grades in all their spellings; what nobody has graded; and that they are never pooled silently."""

import pytest

from tests.apps.prices.matching.judging import MORGAN, coin, judged
from thresher.apps.prices.matching.grades import CERTIFIED, normal_grade
from thresher.apps.prices.model import RAW

MS65 = coin(mintmark="D", series="Morgan", grade="MS65")
UNGRADED = coin(mintmark="D", series="Morgan", grade="raw")


@pytest.mark.parametrize(
    ("text", "grade"),
    [
        *(
            (text, "MS65")
            for text in ("MS65", "MS-65", "MS 65", "ms65", "PCGS MS65", "NGC MS-65 CAC", "Gem BU MS65")
        ),
        *((text, "MS65+") for text in ("MS65+", "MS 65+", "MS-65+ NGC")),
        *((text, "MS65 PL") for text in ("MS65PL", "MS65 PL", "MS 65 PL")),
        ("MS64 DMPL", "MS64 DMPL"),
        ("MS64 DPL", "MS64 DMPL"),
        ("MS65RD", "MS65 RD"),
        *(
            (text, "PR69 DCAM")
            for text in ("PR69 DCAM", "PF69 UCAM", "PF-69 Ultra Cameo UC", "Proof 69 DCAM")
            if "Ultra" not in text
        ),
        ("EF40", "XF40"),
        ("XF-45", "XF45"),
        ("VF 30", "VF30"),
        ("F12", "F12"),
        ("VG8", "VG8"),
        ("AG3", "AG3"),
        ("PO01", "PO1"),
        ("AU58 details", "AU58 details"),
        ("AU Details", "AU details"),
        ("UNC Details", "BU details"),
        ("PCGS details", "details"),
        ("PCGS Genuine", "details"),
        ("BU", "BU"),
        ("Gem BU", "BU"),
        ("Brilliant Uncirculated", "BU"),
        ("About Uncirculated", "AU"),
        ("Extremely Fine", "XF"),
        ("very fine", "VF"),
        ("Proof", "PR"),
        ("proof-like", "PL"),
        *(
            (text, RAW)
            for text in (
                "raw",
                "ungraded",
                "not graded",
                "uncertified",
                "non certified",
                "raw, MS65 in my view",
            )
        ),
        *((text, CERTIFIED) for text in ("PCGS", "slabbed", "certified")),
        *(
            (text, None)
            for text in (
                "",
                "MS59",  # there is none
                "AU65",
                "MS6555",
                "possible MS65",
                "MS65?",
                "should grade MS66",
                "looks MS65",
                ".999 fine silver",
                "Au bullion",
                "great details",
                "VAMS65",
                "fine",
            )
        ),
    ],
)
def test_a_grade_has_one_normal_form(text: str, grade: str | None) -> None:
    assert normal_grade(text) == grade


@pytest.mark.parametrize("said", ["MS65", "MS-65", "ms 65", "PCGS MS65"])
@pytest.mark.parametrize("title", ["PCGS MS65", "MS-65", "ms 65 NGC"])
def test_the_same_grade_matches_in_every_spelling(said: str, title: str) -> None:
    wanted = coin(mintmark="D", series="Morgan", grade=said)
    found = judged(wanted, f"1921-D Morgan Dollar {title}")
    assert (found.counts, found.strength, found.grade) == (True, 1_000, "MS65")


@pytest.mark.parametrize(
    ("title", "grade", "reason"),
    [
        ("MS64", "MS64", "its grade is MS64; the item's is MS65"),
        ("MS65+", "MS65+", "its grade is MS65+; the item's is MS65"),
        ("MS65 DMPL", "MS65 DMPL", "its grade is MS65 DMPL; the item's is MS65"),
        ("PR65", "PR65", "its grade is PR65; the item's is MS65"),
        ("raw", RAW, "its grade is raw; the item's is MS65"),
        ("BU", "BU", "its grade is BU; the item's is MS65"),
        ("MS64/65", None, "its grade is MS64 and MS65; the item's is MS65"),
        ("MS63-MS65", None, "its grade is MS63 and MS65; the item's is MS65"),
        ("AU details", "AU details", "its grade is AU details; the item's is MS65"),
        ("PCGS", CERTIFIED, "it is graded and does not say how; the item's grade is MS65"),
        ("", None, "it does not say its grade; the item's is MS65"),
    ],
)
def test_another_grade_does_not_count_and_says_so(title: str, grade: str | None, reason: str) -> None:
    found = judged(MS65, f"1921-D Morgan Dollar {title}")
    assert (found.counts, found.grade, found.reason) == (False, grade, reason)
    assert 0 < found.strength < 1_000  # it is this coin, in another state


@pytest.mark.parametrize(
    ("title", "counts"),
    [
        ("raw", True),
        ("ungraded", True),
        ("", True),  # what says nothing of a grade has mostly none
        ("XF", True),  # a seller's word
        ("BU", True),
        ("PCGS MS65", False),
        ("MS65", False),
        ("AU details", False),
        ("NGC", False),
        ("slabbed", False),
    ],
)
def test_a_raw_coin_is_compared_with_raw_ones(title: str, counts: bool) -> None:
    assert judged(UNGRADED, f"1921-D Morgan Dollar {title}").counts is counts


@pytest.mark.parametrize(
    ("title", "grade"),
    [("MS65", "MS65"), ("raw", RAW), ("XF45", "XF45"), ("", None), ("MS64/65", None), ("NGC", CERTIFIED)],
)
def test_for_an_item_without_a_grade_the_point_says_what_it_is(title: str, grade: str | None) -> None:
    found = judged(MORGAN, f"1921-D Morgan Dollar {title}")
    assert (found.counts, found.grade) == (True, grade)


@pytest.mark.parametrize(
    ("aspects", "counts"),
    [
        ({"Grade": "MS 65", "Certification": "PCGS"}, True),
        ({"Grade": "MS 64"}, False),
        ({"Grade": "Ungraded", "Certification": "Uncertified"}, False),
        ({"Certification": "PCGS"}, False),
        ({"Grade": "MS 65", "Certification": "Uncertified"}, False),
    ],
)
def test_the_grade_may_stand_in_a_field_of_its_own(aspects: dict[str, str], counts: bool) -> None:
    assert judged(MS65, "1921-D Morgan Dollar", aspects=aspects).counts is counts


@pytest.mark.parametrize(
    ("title", "grade"),
    [
        ("1921-D Morgan Dollar MS65", RAW),
        ("1921-D Morgan Dollar PCGS MS65", None),
    ],  # None: the two contradict
)
def test_a_grade_beside_uncertified_is_what_the_seller_thinks(title: str, grade: str | None) -> None:
    assert judged(MORGAN, title, aspects={"Certification": "Uncertified"}).grade == grade


def test_a_field_and_a_title_that_differ_count_for_neither_grade() -> None:
    found = judged(MS65, "1921-D Morgan Dollar MS65", aspects={"Grade": "MS 63"})
    assert (found.counts, found.grade) == (False, None)
    assert found.reason == "its grade is MS65 and MS63; the item's is MS65"
