"""What a company is worth to one person: the right city, the ranks that count, and no point without its
words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.hiring.company.office import Town, office
from thresher.hiring.company.priority import CompanyFindings, PriorityPoints, priority, tier
from thresher.hiring.finding import Finding

PORTLAND = Town("Portland", "OR", "US")
HERE = Finding("Our office is in Portland, Oregon.", 0, 34)
RANKS = {
    "python": "required",
    "go": "required",
    "postgresql": "required",
    "kubernetes": "required",
    "react": "ok",
    "php": "strike",
    "perl": "fail",
}


def lines(*texts: str) -> list[tuple[str, int]]:
    found, at = [], 0
    for text in texts:
        found.append((text, at))
        at += len(text) + 1
    return found


def in_portland(*texts: str) -> bool:
    return office(lines(*texts), PORTLAND) is not None


@pytest.mark.parametrize(
    "text",
    [
        "We also have offices in Munich and Portland, Oregon.",
        "Our headquarters are in Portland, OR.",
        "1200 NW Naito Parkway, Portland, OR 97209",
        "We are based in Portland.",
        "Offices: Berlin, Portland, Tokyo",
        "Portland",
        "Our Portland office is near the river.",
        "Headquartered in Portland, USA",
        "Portland Oregon (HQ)",
        "PORTLAND, OR",
        "address: Portland, OR, US",
    ],
)
def test_an_office_in_the_city_is_found(text):
    assert in_portland(text)


@pytest.mark.parametrize(
    "text",
    [
        "The new hall stands on Portland cement.",
        "Our office stands on Portland cement.",
        "Our office is in Portland, Maine.",
        "We have offices in Portland, ME and Boston.",
        "Portland, ME",
        "Our office in Portland, United Kingdom",
        "Our office is on Portland Street in London.",
        "We serve customers in Portland, Oregon.",
        "We have no office in Portland.",
        "A bakery in Portland, Oregon is one of our customers and has been so for a very long time, which we are rather proud of.",
        "the portland vase",
        "Portlandia",
        "South-Portland",
        "Portland State University alumni",
        "portland.example",
    ],
)
def test_what_is_no_office_in_the_city_is_not(text):
    assert not in_portland(text)


def test_or_is_a_word_and_not_oregon():
    """The weakness of old: the city's name, and the two letters anywhere."""
    assert not in_portland("We deliver Portland cement or gravel.")
    assert not in_portland("Portland cement", "or better")


def test_a_bare_name_does_not_count_where_the_other_city_is_named_too():
    assert not in_portland("Our office is in Portland, Maine.", "The Portland office is open.")


def test_a_bare_name_means_the_city_of_the_region_that_the_pages_name():
    assert in_portland("The Portland office is open.", "We have been in Oregon since 1990.")
    assert not in_portland("The Portland office is open.", "We have been in Maine since 1990.")


def test_a_bare_name_does_not_mean_the_lesser_city():
    assert office(lines("We are based in London."), Town("London", "ON", "CA")) is None
    assert office(lines("We are based in London, Ontario."), Town("London", "ON", "CA")) is not None


def test_a_city_that_no_list_knows_is_found_by_its_name():
    assert office(lines("Our office is in Zwolgen."), Town("Zwolgen", None, "NL")) is not None


def test_a_city_of_another_country():
    assert office(lines("Unser Büro in München"), Town("München", "BY", "DE")) is not None
    assert office(lines("Offices in Cambridge, UK"), Town("Cambridge", "MA", "US")) is None
    assert office(lines("Offices in Cambridge, MA"), Town("Cambridge", "MA", "US")) is not None


@pytest.mark.promise(14)
@given(
    st.lists(
        st.sampled_from(
            [
                "Portland",
                ",",
                "OR",
                "Oregon",
                "ME",
                "office",
                "in",
                "cement",
                ".",
                "we",
                "are",
                "based",
                "no",
                "  ",
                "é",
            ]
        ),
        max_size=40,
    )
)
def test_the_quote_stands_in_the_line(words):
    text = " ".join(words)
    found = office(lines("x", text), PORTLAND)
    assert found is None or f"x\n{text}"[found.start : found.end] == found.value


def seen(*technologies: str, **others: Finding[str]) -> CompanyFindings:
    return CompanyFindings(technologies=[(name, f"We use {name}.") for name in technologies], **others)


def worth(found: CompanyFindings, **how):
    return priority(found, **({"city": "Portland", "ranks": RANKS, "points": PriorityPoints()} | how))


def test_the_top_tier_can_be_reached():
    found = worth(seen("python", "go", "postgresql", "kubernetes", office=HERE))
    assert (found.score, found.tier) == (150, "S")


def test_every_bonus_together():
    found = worth(
        seen(
            "python", "go", "postgresql", "kubernetes", "react", office=HERE, remote_first=HERE, ai_focus=HERE
        )
    )
    assert (found.score, found.tier) == (175, "S")


def test_alignment_is_not_always_nothing():
    """The weakness of old: ranks and technologies never met."""
    assert worth(seen("python")).score == 25
    assert worth(seen("react")).score == 10


def test_technologies_bring_at_most_their_limit_and_never_less_than_nothing():
    most = worth(seen(*RANKS), ranks=dict.fromkeys(RANKS, "required"))
    assert most.score == 100
    assert worth(seen("php", "perl")).score == 0


def test_a_disliked_technology_costs_points():
    assert worth(seen("python", "php")).score == 15
    assert worth(seen("python", "perl")).score == 0


@pytest.mark.parametrize(
    ("score", "wanted"),
    [(150, "S"), (149, "A"), (100, "A"), (99, "B"), (70, "B"), (69, "C"), (50, "C"), (49, "D"), (0, "D")],
)
def test_tiers_begin_where_they_should(score, wanted):
    assert tier(score, PriorityPoints()) == wanted


def test_without_a_profile_there_are_no_points_for_city_and_technologies_and_it_says_so():
    found = worth(seen("python", office=HERE, remote_first=HERE), city=None, ranks=None)
    notes = {part.rule: part.note for part in found.parts}
    assert found.score == 15
    assert "no profile" in notes["city"]
    assert "no profile" in notes["technology"]


def test_numbers_are_the_persons_to_choose():
    assert worth(seen(office=HERE), points=PriorityPoints(city=7, tier_c=5)).tier == "C"


@pytest.mark.promise(13)
@given(
    st.lists(st.sampled_from(sorted(RANKS)), unique=True),
    st.booleans(),
    st.booleans(),
    st.booleans(),
    st.dictionaries(st.sampled_from(sorted(RANKS)), st.sampled_from(["required", "ok", "strike", "fail"])),
)
def test_the_score_is_the_sum_of_its_parts_and_each_point_has_its_words(
    technologies, here, remote, learning, ranks
):
    bonus = {
        name: HERE
        for name, has in (("office", here), ("remote_first", remote), ("ai_focus", learning))
        if has
    }
    found = worth(seen(*technologies, **bonus), ranks=ranks)
    assert found.score == sum(part.points for part in found.parts) >= 0
    assert all(part.quote for part in found.parts if part.points)
    assert all(part.quote or part.note for part in found.parts)
    assert 0 <= sum(part.points for part in found.parts if part.rule == "technology") <= 100
