"""The judgement as a whole: its reasons, what it never does, and that hostile titles cost no time."""

import re
import resource
import subprocess
import sys
from itertools import permutations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.apps.prices.matching.hostile import ITEMS, LONG, RULES, hostile_listings
from tests.apps.prices.matching.judging import MORGAN, coin, item, judged, listing, signal
from thresher.apps.prices.kinds import Comparison, kinds
from thresher.apps.prices.matching.judge import judge
from thresher.apps.prices.matching.vocabulary import group_names
from thresher.apps.prices.matching.words import MAX_TEXT, plain_text
from thresher.apps.prices.model import WHOLE, Item, ItemSpec, ItemStatus, Listing, PriceType

ROOT = Path(__file__).parents[4]
PROCESSOR_SECONDS = 60  # it takes four on a free machine
GRADED = coin(mintmark="D", series="Morgan", grade="MS65")


def test_the_strength_is_the_share_of_the_weights_that_match() -> None:
    found = judged(MORGAN, "1921 Morgan Dollar")
    assert [(each.name, each.verdict, each.weight) for each in found.signals] == [
        ("denomination", "matches", 20),
        ("year", "matches", 30),
        ("mintmark", "silent", 20),
        ("series", "matches", 20),
    ]
    assert found.strength == WHOLE * 70 // 90
    assert signal(found, "year").quote == "1921"


def test_the_titles_of_the_docs_are_judged_as_they_say() -> None:
    page = (ROOT / "docs/explanation/prices-matching.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (.+?) \| ([01](?:\.\d\d)?) \| (yes|no)", page, re.MULTILINE)
    assert len(rows) == 5
    for title, strength, counts in rows:
        found = judged(MORGAN, title)
        assert (round(found.strength / WHOLE, 2), found.counts) == (float(strength), counts == "yes"), title


def test_a_contradiction_makes_it_another_thing_whatever_else_it_says() -> None:
    found = judged(MORGAN, "1922-D Morgan Dollar", aspects={"Denomination": "$1", "Coin": "Morgan"})
    assert (found.strength, found.counts, found.reason) == (
        0,
        False,
        "it says '1922-D'; the item's year is 1921",
    )


@pytest.mark.parametrize(("needed", "counts"), [(777, True), (778, False), (0, True), (1_000, False)])
def test_the_setting_says_how_strong_is_enough(needed: int, counts: bool) -> None:
    found = judged(MORGAN, "1921 Morgan Dollar", needed=needed)
    assert found.counts is counts
    if not counts:
        assert (
            found.reason
            == f"its match strength is 0.78, and {needed / 1_000:.2f} is needed; it does not say: mintmark"
        )


def test_a_listing_is_kept_as_it_came() -> None:
    seen = listing("1922-D Morgan Dollar", external_id="7", url="https://m.example/itm/7", quote="$60.00")
    assert judge(seen, MORGAN, (), 600).listing is seen


def test_an_item_without_attributes_is_compared_by_its_name() -> None:
    lamp = Item(1, ItemSpec("Tolomeo lamp", "product"), ItemStatus.PENDING)
    assert judged(lamp, "Artemide Tolomeo desk lamp").strength == WHOLE
    assert not judged(lamp, "Artemide desk lamp").counts


def test_an_item_of_a_kind_that_is_not_known_is_compared_by_its_name() -> None:
    stamp = Item(1, ItemSpec("Penny Black", "stamp", {"year": "1840"}), ItemStatus.PENDING)
    assert judged(stamp, "Penny Black stamp").counts


def test_every_kind_names_words_that_there_are_and_has_weights() -> None:
    for kind in kinds().values():
        assert set(kind.never) <= group_names()
        assert sum(each.weight for each in kind.attributes if each.required) > 0
        for each in kind.attributes:
            assert each.flag == (each.compare is Comparison.FLAG) == bool(each.words)
            assert (each.compare is Comparison.NAMED) == (each.names in group_names())


# What the seed of this app did, and why it was wrong.


def test_a_strength_is_no_constant() -> None:
    """It was 1.0 for every listing, and so said nothing."""
    strengths = [
        judged(MORGAN, title).strength
        for title in ("1921-D Morgan Dollar", "1921 Morgan Dollar", "Morgan Dollar", "1922")
    ]
    assert strengths == sorted(strengths, reverse=True)
    assert len(set(strengths)) == 4


def test_tokens_that_match_do_not_outvote_one_that_contradicts() -> None:
    """It was the share of tokens found: three of four were 0.75, whatever the fourth said."""
    assert judged(MORGAN, "1921-S Morgan Dollar").strength == 0


def test_a_weak_match_is_kept_from_the_price_and_not_only_from_the_confidence() -> None:
    weak = judged(MORGAN, "Morgan Dollar")
    assert (weak.counts, weak.unit) == (False, 6_000)
    assert weak.strength < 600


def test_a_listing_without_anything_to_compare_has_no_strength() -> None:
    """It was 0.5 where no token could be made."""
    assert judged(MORGAN, "").strength == 0


@pytest.mark.parametrize(
    ("keyword", "title"),
    [
        ("lot", "1921-D Morgan Dollar from Charlotte"),
        ("roll", "1921-D Morgan Dollar ex Carroll"),
        ("copy", "1921-D Morgan Dollar, not a copy"),
        ("cleaned", "1921-D Morgan Dollar not cleaned"),
        ("cleaned", "1921-D Morgan Dollar uncleaned"),
        ("scratched", "1921-D Morgan Dollar not scratched"),
    ],
)
def test_a_keyword_is_no_part_of_a_word_and_no_denial(keyword: str, title: str) -> None:
    assert keyword in title.lower()  # so that a substring would have removed it
    wanted = item(
        "coin", denomination="dollar", year="1921", mintmark="D", series="Morgan", exclude=[keyword]
    )
    assert judged(wanted, title).counts


def test_one_listing_is_evidence_about_several_items_each_by_itself() -> None:
    """A cached price was filed under the item that it was first found for."""
    seen = listing("1921-D Morgan Dollar PCGS MS65")
    others = [coin(mintmark="D", series="Morgan", grade=grade) for grade in ("MS65", "MS64", "raw")]
    found = [judge(seen, each, (), 600) for each in others]
    assert [each.counts for each in found] == [True, False, False]
    assert all(each.listing is seen for each in found)


def test_grades_are_not_pooled() -> None:
    titles = ("raw", "MS63", "MS65", "MS67", "AU details")
    found = {title: judged(GRADED, f"1921-D Morgan Dollar {title}").counts for title in titles}
    assert [title for title, counts in found.items() if counts] == ["MS65"]


# What holds for every listing.

GOOD = st.lists(
    st.sampled_from(
        ["1921-D", "Morgan", "Dollar", "silver", "PCGS", "MS65", "Denver", "lustrous", "not cleaned"]
    ),
    min_size=1,
    unique=True,
)
BAD = st.sampled_from(
    [
        "1922",
        "1921-S",
        "Peace",
        "half dollar",
        "MS60",
        "raw",
        "cleaned",
        "replica",
        "lot",
        "mixed",
        "San Francisco mint",
        "pendant",
    ]
)


@given(GOOD, BAD)
def test_an_added_contradiction_never_makes_a_match_stronger(good: list[str], bad: str) -> None:
    before = judged(GRADED, " ".join(good))
    after = judged(GRADED, " ".join([*good, "-", bad]))
    assert after.strength <= before.strength
    assert not after.counts


@given(GOOD)
def test_an_added_match_never_makes_a_match_weaker(good: list[str]) -> None:
    before = judged(GRADED, " ".join(good))
    after = judged(GRADED, " ".join([*good, "1921-D Morgan Dollar MS65"]))
    assert after.strength == WHOLE
    assert before.strength <= after.strength


def test_the_order_of_the_words_of_a_title_does_not_matter() -> None:
    blocks = ["1921-D", "Morgan", "Dollar", "MS65", "PCGS", "not cleaned"]
    found = {judged(GRADED, ", ".join(each)).strength for each in permutations(blocks)}
    assert found == {WHOLE}


WORDS = (
    "lot",
    "roll",
    "set",
    "copy",
    "replica",
    "cleaned",
    "polished",
    "pendant",
    "plated",
    "mixed",
    "raw",
    "details",
    "pair",
    "holed",
)


@given(
    st.sampled_from(WORDS),
    st.text("bdfghjkmqvwxz", min_size=2, max_size=6),
    st.text("bdfghjkmqvwxz", min_size=2, max_size=6),
)
def test_a_word_inside_of_another_word_says_nothing(word: str, before: str, after: str) -> None:
    for inside in (before + word, word + after, before + word + after, before + word.upper() + after):
        found = judged(MORGAN, f"1921-D Morgan Dollar {inside}")
        assert (found.counts, found.grade, found.quantity) == (True, None, 1), inside


TEXTS = st.text(max_size=80) | st.lists(
    st.sampled_from(
        [
            "1921-D",
            "1921",
            "Morgan",
            "dollar",
            "lot",
            "of",
            "5",
            "x",
            "(",
            ")",
            ",",
            ".",
            "not",
            "no",
            "or",
            "cleaned",
            "MS65",
            "MS65+",
            "VAM-3",
            "RTX-4090",
            "Ti",
            "128GB",
            "for",
            "with",
            "4006381333931",
            "€5",
            "½",
            "ß",
            "İ",
        ]
    ),
    max_size=14,
).map(" ".join)


@given(
    TEXTS,
    st.none() | TEXTS,
    st.dictionaries(TEXTS | st.sampled_from(["Year", "Grade", "EAN", "Brand", "Cleaned"]), TEXTS, max_size=4),
    st.none() | st.integers(-5, 10**12),
    st.sampled_from(PriceType),
    st.sampled_from(ITEMS),
)
def test_whatever_a_listing_says_is_judged_with_a_reason_and_with_quotes_of_its_own(
    title: str,
    condition: str | None,
    aspects: dict[str, str],
    amount: int | None,
    price_type: PriceType,
    about: Item,
) -> None:
    seen = listing(
        title, amount=amount, condition=condition, aspects=aspects, price_type=price_type, quantity=2
    )
    found = judge(seen, about, RULES[1:], 600)
    assert 0 <= found.strength <= WHOLE
    assert found.quantity >= 1
    assert (found.reason is None) == found.counts
    assert found.unit is None or (amount is not None and 0 <= found.unit <= amount)
    if found.counts:
        assert found.unit is not None
        assert found.strength >= 600
    said = [plain_text(each) for each in (title, condition or "", *aspects, *aspects.values())]
    said.append(" | ".join(said))
    for each in found.signals:
        for quote in (each.quote or "").split(" … "):
            for piece in quote.split(", "):
                assert any(piece in text for text in said), (each, said)


def test_a_title_that_is_no_title_does_not_count() -> None:
    found = judged(MORGAN, "1921-D Morgan Dollar " * 5_000)
    assert (found.counts, found.reason) == (
        False,
        "its title has 105,000 characters; a title has at most 1,000",
    )


def test_hostile_texts_are_judged_in_little_time() -> None:
    """A program that judges them may use so much processor time, and is killed if it uses more."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (PROCESSOR_SECONDS, PROCESSOR_SECONDS))

    done = subprocess.run(
        [sys.executable, "-m", "tests.apps.prices.matching.hostile"], cwd=ROOT, preexec_fn=limit, check=False
    )
    assert done.returncode == 0


@pytest.mark.parametrize("about", ITEMS, ids=lambda each: each.name[:12])
def test_the_work_does_not_grow_with_the_length_of_hostile_texts(about: Item) -> None:
    for short, long in zip(
        hostile_listings(2 * MAX_TEXT)[::3], hostile_listings(LONG // 2)[::3], strict=True
    ):
        few, many = (_steps(seen, about) for seen in (short, long))
        assert many <= few + 50, short.title[:20]


def _steps(seen: Listing, about: Item) -> int:
    """How many functions are called to judge a listing."""
    calls = 0

    def count(_frame: object, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event == "call"

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        judge(seen, about, RULES, 600)
    finally:
        sys.setprofile(before)
    return calls
