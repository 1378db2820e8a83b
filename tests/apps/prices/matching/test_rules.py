"""Keywords of items and rules of sources: whole words, negation, priorities, and paths."""

import pytest

from tests.apps.prices.matching.judging import MORGAN, item, judged
from thresher.apps.prices.model import Item, RuleKind, SourceRule

EXCLUDE, REQUIRE, PATH = RuleKind.EXCLUDE_KEYWORDS, RuleKind.REQUIRE_KEYWORDS, RuleKind.ALLOWED_PATH


def wanting(*, include: tuple[str, ...] = (), exclude: tuple[str, ...] = ()) -> Item:
    return item("coin", denomination="dollar", year="1921", series="Morgan", include=include, exclude=exclude)


@pytest.mark.parametrize(
    ("keyword", "title", "counts"),
    [
        ("lot", "1921 Morgan dollar Charlotte", True),
        ("roll", "1921 Morgan dollar Carroll", True),
        ("cleaned", "1921 Morgan dollar uncleaned", True),
        ("cleaned", "1921 Morgan dollar not cleaned", True),
        ("scratches", "1921 Morgan dollar no scratches", True),
        ("token", "1921 Morgan dollar", True),
        ("proof", "1921 Morgan dollar proof", False),
        ("proof", "1921 Morgan dollar PROOF", False),
        ("proof like", "1921 Morgan dollar proof-like", False),
        ("proof like", "1921 Morgan dollar like proof", True),
        ("zerbst", "1921 Morgan dollar Zerbsts", False),
        ("pièce", "1921 Morgan dollar piece", False),
        ("", "1921 Morgan dollar", True),
    ],
)
def test_an_excluded_keyword_is_whole_words_that_are_not_denied(
    keyword: str, title: str, counts: bool
) -> None:
    found = judged(wanting(exclude=(keyword,)), title)
    assert found.counts is counts
    if not counts:
        assert found.reason == f"it has the excluded keyword {keyword!r}"


def test_an_excluded_keyword_may_stand_in_any_text_of_the_listing() -> None:
    wanted = wanting(exclude=("zerbst",))
    assert not judged(wanted, "1921 Morgan dollar", condition="Zerbst").counts
    assert not judged(wanted, "1921 Morgan dollar", aspects={"Variety": "Zerbst"}).counts


def test_keywords_to_include_add_to_the_strength() -> None:
    wanted = wanting(include=("silver", "first year"))
    whole = judged(wanted, "1921 Morgan silver dollar first year")
    some = judged(wanted, "1921 Morgan silver dollar")
    none = judged(wanted, "1921 Morgan dollar")
    assert 1_000 == whole.strength > some.strength > none.strength
    assert none.counts


@pytest.mark.parametrize(
    ("rule", "reason"),
    [
        (
            SourceRule(EXCLUDE, ("privy", "zerbst")),
            "a rule of the source: it has the excluded keyword 'zerbst'",
        ),
        (SourceRule(REQUIRE, ("silver",)), "a rule of the source: it lacks the required keyword 'silver'"),
        (
            SourceRule(REQUIRE, ("morgan", "gold")),
            "a rule of the source: it lacks the required keyword 'gold'",
        ),
        (SourceRule(REQUIRE, ("morgan",)), None),
        (SourceRule(RuleKind.RATE_LIMIT_OVERRIDE, ("5",)), None),
        (SourceRule(EXCLUDE, ("zerbst",), active=False), None),
    ],
)
def test_a_rule_of_the_source_refuses(rule: SourceRule, reason: str | None) -> None:
    found = judged(MORGAN, "1921-D Morgan Dollar Zerbst", [rule])
    assert (found.counts, found.reason) == (reason is None, reason)


def test_all_active_rules_hold_and_the_first_by_priority_speaks() -> None:
    rules = [
        SourceRule(EXCLUDE, ("zerbst",), 1),
        SourceRule(REQUIRE, ("gold",), 9),
        SourceRule(EXCLUDE, ("vam",), 5),
    ]
    said = "a rule of the source: it lacks the required keyword 'gold'"
    assert judged(MORGAN, "1921-D Morgan Dollar Zerbst", rules).reason == said
    rest = "a rule of the source: it has the excluded keyword 'zerbst'"
    assert judged(MORGAN, "1921-D Morgan Dollar Zerbst gold", rules).reason == rest


@pytest.mark.parametrize(
    ("prefix", "url", "counts"),
    [
        ("/itm", "https://market.example/itm/7", True),
        ("/itm/", "https://market.example/itm/7?hash=1#x", True),
        ("itm", "https://market.example/itm", True),
        ("/itm", "https://market.example/items/7", False),
        ("/itm", "https://market.example/x/itm/7", False),
        ("/itm", "https://market.example/itm/../sch/7", False),
        ("/itm", "https://market.example/itm/%2e%2e/sch/7", False),
        ("/itm", "https://market.example//itm/7", True),
        ("/", "https://market.example/anything", True),
        ("/itm", None, False),
        ("/itm", "https://[broken/itm/7", False),
        ("/(a+)+$", "https://market.example/" + "a" * 1_000, False),  # no pattern
        ("/itm", "https://market.example/itm/" + "a" * 100_000, False),
    ],
)
def test_an_allowed_path_is_a_prefix_by_steps(prefix: str, url: str | None, counts: bool) -> None:
    assert judged(MORGAN, url=url, rules=[SourceRule(PATH, (prefix,))]).counts is counts


def test_several_paths_may_be_allowed() -> None:
    rule = SourceRule(PATH, ("/itm", "/p"))
    assert judged(MORGAN, url="https://market.example/p/7", rules=[rule]).counts
    assert (
        judged(MORGAN, url="https://market.example/p/7", rules=[rule, SourceRule(PATH, ("/itm",))]).counts
        is False
    )
