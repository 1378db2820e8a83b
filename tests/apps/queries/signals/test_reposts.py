"""Which offers are one opening: the rule on sketches is the rule on texts, and nothing cheaper rules a pair
out that it would take."""

from collections import Counter
from math import ceil

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.apps.queries.signals.market import words
from thresher.apps.queries.signals.reposts import (
    MAX_DISTINCT,
    Canonicals,
    NotCompared,
    OfferText,
    TextPrint,
    agreeing,
    count_words,
    is_near,
    may_be_near,
    read_print,
    read_sketch,
    shared_words,
    titles_agree,
    write_sketch,
)
from thresher.apps.queries.signals.words import plain_words

VOCABULARY = [f"word{at}" for at in range(40)]
bodies = st.lists(st.sampled_from(VOCABULARY), min_size=10, max_size=120)


def offer(key, title, text, *, company="acme", place="", first_seen=0, headline=None):
    found = read_print(title, text)
    assert isinstance(found, TextPrint)
    return OfferText(
        key,
        company,
        headline if headline is not None else title,
        place,
        first_seen,
        "",
        found.fingerprint,
        found.size,
        found.signature,
        found.sketch,
    )


def decide(*offers, permille=900):
    return {
        key: repost and (repost.canonical, repost.why)
        for key, repost in Canonicals(permille).decide(offers, {}).items()
    }


def edited(draw, body):
    """The same text with some words taken out, put in and changed."""
    found = list(body)
    for _ in range(draw(st.integers(0, 14))):
        at = draw(st.integers(0, len(found)))
        match draw(st.integers(0, 2)):
            case 0 if len(found) > 10 and at < len(found):
                del found[at]
            case 1 if at < len(found):
                found[at] = draw(st.sampled_from(VOCABULARY))
            case _:
                found.insert(at, draw(st.sampled_from(VOCABULARY)))
    return found


pairs = st.composite(lambda draw: (body := draw(bodies), edited(draw, body)))()


@given(pair=pairs | st.tuples(bodies, bodies), permille=st.sampled_from([500, 800, 900, 950, 1_000]))
@example(pair=(VOCABULARY[:10], [*VOCABULARY[:9], "other"]), permille=900)
def test_the_rule_on_sketches_is_the_rule_on_texts(pair, permille):
    one, other = (["analyst", *body] for body in pair)
    both = Counter(one) & Counter(other)
    longer = max(len(one), len(other))
    near = both.total() * 1_000 >= permille * longer
    a, b = offer("a", "analyst", " ".join(pair[0])), offer("b", "analyst", " ".join(pair[1]))
    shared = shared_words(read_sketch(a.sketch or ""), read_sketch(b.sketch or ""))
    assert shared == both.total()
    assert is_near(shared, (a.size, b.size), permille) == near
    if near:
        assert may_be_near(a, b, permille)
        assert agreeing([a], [("b", b.company, b.headline, b.size)], permille) == {"b"}
    found = decide(a, b, permille=permille)
    assert (found["b"] is not None) == (near or one == other)


@given(st.dictionaries(st.integers(0, 2**32 - 1), st.integers(1, 60_000), max_size=200))
def test_a_sketch_is_read_as_it_was_written(counts):
    assert read_sketch(write_sketch(counts)) == counts


@given(st.lists(st.text(alphabet="abcdefgh", min_size=1, max_size=6), max_size=300))
def test_different_words_are_different_numbers(said):
    assert len(count_words(said)) == len(set(said))


def test_a_typical_text_has_a_small_sketch_and_a_monstrous_one_has_none():
    usual = read_print("x", words("w", 400))
    assert isinstance(usual, TextPrint)
    assert len(usual.sketch or "") < 3_500
    monster = read_print("x", words("w", MAX_DISTINCT + 1))
    assert isinstance(monster, TextPrint)
    assert (monster.sketch, monster.signature) == (None, None)
    assert monster.fingerprint


def test_the_same_text_is_a_repost_even_of_a_monstrous_one():
    text = words("w", MAX_DISTINCT + 1)
    assert decide(offer("a", "x", text), offer("b", "x", text)) == {"a": None, "b": ("a", "the same text")}


def test_two_openings_with_the_same_title_stay_two():
    assert decide(offer("a", "Engineer", words("a")), offer("b", "Engineer", words("b"))) == {
        "a": None,
        "b": None,
    }


def test_boilerplate_does_not_make_two_different_openings_one():
    shared = words("we", 200)
    one, other = offer("a", "Payments Engineer", shared), offer("b", "Search Engineer", shared + " really")
    assert decide(one, other) == {"a": None, "b": None}


def test_the_same_text_for_another_place_is_one_opening_and_says_so():
    one = offer("a", "Driver", words("w"), place="Leeds")
    assert decide(one, offer("b", "Driver", words("w"), place="York"))["b"] == (
        "a",
        "the same text, for another place",
    )


def test_offers_of_two_companies_are_never_compared():
    one, other = offer("a", "x", words("w")), offer("b", "x", words("w"), company="other")
    assert decide(one, other) == {"a": None, "b": None}


def test_a_repost_of_a_repost_reposts_the_first():
    offers = [offer(key, "x", words("w"), first_seen=at) for at, key in enumerate("cab")]
    assert {key: found and found[0] for key, found in decide(*offers).items()} == {
        "c": None,
        "a": "c",
        "b": "c",
    }


def test_the_boundary_is_nine_words_of_ten():
    body = [f"w{at}" for at in range(99)]  # and one word of the title
    ninety = [*body[:89], *(f"x{at}" for at in range(10))]
    eighty_nine = [*body[:88], *(f"x{at}" for at in range(11))]
    first = offer("a", "x", " ".join(body))
    assert decide(first, offer("b", "x", " ".join(ninety)))["b"] == ("a", "90 % of the words")
    assert decide(first, offer("b", "x", " ".join(eighty_nine)))["b"] is None


def test_a_text_that_contains_another_is_no_repost_of_it():
    assert decide(offer("a", "x", words("w", 50)), offer("b", "x", words("w", 60)))["b"] is None


@given(order=st.permutations(range(6)), body=bodies)
def test_the_order_in_which_offers_come_makes_no_difference(order, body):
    texts = [
        body,
        [*body, "w1"],
        [*body[1:], "w2"],
        body[:-1] or body,
        [*body, "a", "b", "c", "d"],
        body[::-1],
    ]
    offers = [
        offer(f"k{at}", "x", " ".join([*text, "pad"] * 2), first_seen=at) for at, text in enumerate(texts)
    ]
    assert decide(*(offers[at] for at in order)) == decide(*offers)


@pytest.mark.parametrize(
    ("description", "why"),
    [
        (None, NotCompared.NO_DESCRIPTION),
        ("", NotCompared.NO_DESCRIPTION),
        (" ... !", NotCompared.NO_DESCRIPTION),
        ("Apply on our site", NotCompared.SHORT),
        (words("w", 50) + " and so…", NotCompared.CUT),
    ],
)
def test_an_offer_that_says_too_little_is_compared_by_nothing(description, why):
    assert read_print("Software Engineer", description) is why


def test_known_offers_of_other_companies_sizes_and_titles_do_not_agree():
    one = offer("a", "fx analyst", words("w", 20))
    known = [
        ("same", "acme", "fx analyst", one.size),
        ("more words", "acme", "urgent fx analyst", one.size),
        ("other title", "acme", "fx trader", one.size),
        ("other company", "borealis", "fx analyst", one.size),
        ("longer", "acme", "fx analyst", 2 * one.size),
        ("shorter", "acme", "fx analyst", one.size // 2),
    ]
    assert agreeing([one], known, 900) == {"same", "more words"}


def test_titles_agree_if_one_has_all_words_of_the_other():
    assert titles_agree("fx analyst", "urgent fx analyst")
    assert titles_agree("FX-Analyst", "fx analyst")
    assert not titles_agree("payments engineer", "search engineer")


def test_the_least_overlap_is_rounded_against_the_repost():
    assert not is_near(ceil(0.9 * 11) - 1, (11, 10), 900)
    assert is_near(ceil(0.9 * 11), (11, 10), 900)


def test_words_of_title_and_description_are_not_mixed_up():
    one, other = read_print("a b", words("w")), read_print("a", "b " + words("w"))
    assert isinstance(one, TextPrint)
    assert isinstance(other, TextPrint)
    assert one.fingerprint != other.fingerprint
    assert plain_words("a b") == ("a", "b")


# Many offers, in one go and pair by pair


def decided_plainly(known, arrivals, permille):
    """The rule, applied to every pair."""
    canonical, found = list(known), {}
    for each in sorted(arrivals, key=lambda each: each.order):
        others = [other for other in canonical if other.company == each.company]
        same = [other for other in others if other.fingerprint == each.fingerprint]
        near = [
            (-1_000 * shared // max(each.size, other.size), other.order, other.posting)
            for other in others
            if titles_agree(each.headline, other.headline)
            and is_near(
                shared := shared_words(read_sketch(each.sketch), read_sketch(other.sketch)),
                (each.size, other.size),
                permille,
            )
        ]
        if same:
            found[each.posting] = min(same, key=lambda other: other.order).posting
        else:
            found[each.posting] = min(near)[-1] if near else None
        if found[each.posting] is None:
            canonical.append(each)
    return found


offers = st.lists(
    st.tuples(
        st.sampled_from(["Smith", "Senior Smith", "Baker"]),
        st.sampled_from([words(start, 12) for start in ("a", "b")]),
        st.lists(st.sampled_from(VOCABULARY[:3]), max_size=2),
        st.sampled_from(["acme", "borealis"]),
        st.integers(0, 3),
    ),
    max_size=12,
)


@given(offers, st.integers(0, 12), st.sampled_from([600, 900, 1_000]), st.booleans())
def test_offers_of_a_page_are_decided_as_if_every_pair_was_compared(given_, number, permille, ahead):
    every = [
        offer(f"board/{at}", title, f"{text} {' '.join(more)}", company=company, first_seen=seen)
        for at, (title, text, more, company, seen) in enumerate(given_)
    ]
    known, arrivals = every[:number], every[number:]
    canonicals = Canonicals(permille)
    for each in known:
        canonicals.add(each._replace(sketch=None))
    kept = {each.posting: each.sketch for each in known}
    wanted = canonicals.wanted(arrivals) if ahead else kept.keys()
    found = canonicals.decide(arrivals, {posting: kept[posting] for posting in wanted})
    assert {key: repost and repost.canonical for key, repost in found.items()} == decided_plainly(
        known, arrivals, permille
    )
