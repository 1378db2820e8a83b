"""What an offer is worth: every part says why, all parts add up, and no text can make it slow or wrong."""

import re
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.apps.queries.signals.market import RULES_TEXT
from thresher.apps.queries.signals.rules import MAX_WORDS, project_rules, read_rules
from thresher.apps.queries.signals.score import MAX_HITS, MAX_NEGATED, PartKind, score_offer
from thresher.apps.queries.signals.words import fold, plain_words, read_words

SHIPPED = project_rules(None)
RICH = read_rules(
    RULES_TEXT
    + """
phrases:
  - {bucket: money, points: 1.2, phrases: [hedge it all, tipo de cambio]}
  - {bucket: abroad, points: 0.6, phrases: [far away]}
synergies:
  max: 1.5
  of:
    - {id: both, points: 1.0, buckets: [money, abroad]}
    - {id: again, points: 0.8, buckets: [abroad]}
""",
    "rich.yaml",
)
WORDS = [
    "forex",
    "divisas",
    "treasury",
    "export",
    "exporting",
    "no",
    "not",
    "only",
    "hedge",
    "it",
    "all",
    "far",
    "away",
    "tipo",
    "de",
    "cambio",
    "bread",
    ".",
    "\n",
    ";",
    ",",
    "FÓREX",
    "ñ",
]
texts = st.lists(st.sampled_from(WORDS), max_size=60).map(" ".join)


def points(title, text=None, rules=RICH):
    return {part.name: part.points for part in score_offer(title, text, rules).hits if not part.negated}


def negated(text, rules=RICH):
    return {part.name: part.negated for part in score_offer("x", text, rules).hits if part.negated}


# Every part adds up


@pytest.mark.promise(13)
@given(title=texts, description=st.none() | texts | st.text(max_size=300))
@example(title="forex treasury export", description="hedge it all tipo de cambio far away")
def test_the_parts_add_up_to_the_score(title, description):
    score = score_offer(title, description, RICH)
    assert sum(part.points for part in score.parts) == 100 * score.points
    assert 0 <= score.points <= RICH.scale
    assert score.strong == (score.points >= RICH.strong)
    assert all(part.points == 0 for part in score.hits if part.negated)
    assert all(part.points > 0 for part in score.hits if not part.negated)


@pytest.mark.promise(14)
@given(title=texts, description=texts)
def test_every_hit_quotes_the_words_that_caused_it_from_where_they_stand(title, description):
    for hit in score_offer(title, description, RICH).hits:
        text = title if hit.where == "title" else description
        assert text[hit.start : hit.end] == hit.quote
        owner = next((each for each in RICH.categories if each.id == hit.name), None)
        patterns = owner.keywords if owner else [tuple(hit.name.split())]
        assert any(matches(plain_words(hit.quote), pattern) for pattern in patterns)


def matches(said, pattern):
    return len(said) == len(pattern) and all(
        word.startswith(part[:-1]) if part.endswith("*") else word == part
        for word, part in zip(said, pattern, strict=True)
    )


@given(title=texts, description=texts)
def test_a_category_counts_wherever_a_plain_search_finds_it(title, description):
    rules = read_rules(RULES_TEXT.replace('["no", not]', "[]").replace("[not only]", "[]"), "f")
    for text in (title, description):
        read = read_words(text)
        found = set()
        for category in rules.categories:
            for pattern in category.keywords:
                spans = [
                    range(at, at + len(pattern))
                    for at in range(len(read.words) - len(pattern) + 1)
                    if matches(read.words[at : at + len(pattern)], pattern)
                ]
                if any(len({read.sentences[at] for at in span}) == 1 for span in spans):
                    found.add(category.id)
        assert set(score_offer("", text, rules).categories) == found


def test_a_category_counts_once_where_it_is_worth_most():
    assert points("forex", "forex forex divisas") == {"forex": 600}
    assert points("x", "forex, forex and divisas") == {"forex": 400}
    upside_down = read_rules(RULES_TEXT.replace("description: 1.0", "description: 2.0"), "f")
    (hit,) = score_offer("forex", "forex", upside_down).hits
    assert (hit.points, hit.where) == (800, "description")


def test_a_phrase_counts_once_beside_the_category_that_it_is_part_of():
    rules = read_rules(RULES_TEXT + "phrases: [{bucket: money, points: 2, phrases: [forex desk]}]", "f")
    assert points("x", "forex desk, forex desk", rules) == {"forex": 400, "forex desk": 200}


def test_a_bucket_counts_up_to_its_cap_and_says_so():
    score = score_offer("forex treasury", None, RICH)
    assert [(part.name, part.points) for part in score.parts if part.kind is PartKind.BUCKET_CAP] == [
        ("money", -275)
    ]
    assert score.points == 7


def test_synergies_count_only_with_a_core_and_up_to_their_cap():
    with_core = score_offer("x", "treasury export", RICH)
    kinds = {part.kind: part.points for part in with_core.parts}
    assert with_core.core
    assert (kinds[PartKind.SYNERGY_CAP], with_core.points) == (-30, 7)  # 2.5 + 2.5 + 1.5, rounded up
    without = score_offer("x", "export far away", RICH)
    assert not without.core
    assert PartKind.SYNERGY not in {part.kind for part in without.parts}


def test_without_a_core_no_offer_is_strong_whatever_else_it_says():
    everything = " ; ".join(
        " ".join(pattern).replace("*", "x")
        for category in SHIPPED.categories
        if category.bucket != "direct_fx"
        for pattern in category.keywords
    )
    score = score_offer(everything, everything, SHIPPED)
    assert (score.core, score.points, score.strong) == (False, 5, False)
    assert PartKind.NO_CORE in {part.kind for part in score.parts}


def test_the_core_is_measured_before_the_cap_of_its_bucket():
    rules = read_rules(RULES_TEXT.replace("money: 7", "money: 1"), "f")
    assert score_offer("x", "treasury", rules).core


def test_the_best_category_is_the_one_that_brought_most():
    assert score_offer("treasury", "forex", RICH).category == "forex"
    assert score_offer("export", "treasury", RICH).category == "export"
    assert score_offer("bread", None, RICH).category is None


def test_an_offer_without_a_description_is_scored_by_its_title():
    assert score_offer("forex", None, RICH).points == 6


# Words


@pytest.mark.parametrize(
    "text",
    ["FÓREX", "fo\u0301rex", "(forex)", "x/forex/y", "forex.", "_forex_", "ｆｏｒｅｘ", "forex\u00a0desk"],
)
def test_case_accents_and_marks_make_no_difference(text):
    assert points("x", text) == {"forex": 400}


@pytest.mark.parametrize("text", ["forexx", "aforex", "fore x", "for-ex", "f\u200borex", ""])
def test_a_part_of_a_word_is_no_hit(text):
    assert points("x", text) == {}


def test_a_star_stands_for_every_ending():
    assert points("x", "exportaciones") == {"export": 250}
    assert points("x", "expor") == {}


def test_a_phrase_does_not_reach_over_the_end_of_a_sentence():
    assert points("x", "el tipo de cambio") == {"tipo de cambio": 120}
    assert points("x", "el tipo. De cambio") == {}
    assert points("x", "el tipo\nde cambio") == {}


def test_a_stop_inside_a_word_ends_no_sentence():
    assert len(set(read_words("Node.js 3.5 a,b").sentences)) == 1
    assert read_words('He said "stop." Then (really?) no.').sentences == (0, 0, 0, 1, 1, 2)


BETWEEN = re.compile(r"[\n\r\u2028\u2029•▪◦·‣]|[.!?;…]['\"”’»)\]]{0,3}\s|[。！？；]")


@given(st.text(alphabet="ab é\u0301_\n\r\t.!?;…'\"”)]•·。；\x85-", max_size=60))
def test_a_sentence_ends_once_between_two_words_or_it_does_not(text):
    read = read_words(text)
    last, number, found = 0, 0, []
    for start, end in zip(read.starts, read.ends, strict=True):
        number += BETWEEN.search(text, last, start) is not None
        found.append(number)
        last = end
    assert list(read.sentences) == found


@given(st.text(max_size=200))
def test_words_are_where_they_say(text):
    read = read_words(text)
    for word, start, end in zip(read.words, read.starts, read.ends, strict=True):
        assert fold(text[start:end]) == word
    assert list(read.sentences) == sorted(read.sentences)
    assert plain_words(text) == read.words


# Negation


@pytest.mark.promise(13)
@given(
    before=st.integers(0, 20),
    after=st.integers(0, 20),
    side=st.booleans(),
    word=st.sampled_from(["no", "not"]),
)
def test_a_negation_reaches_eight_words_forward_and_two_back(before, after, side, word):
    fill = ["filler"] * 30
    said = [word, *fill[:before], "forex"] if side else ["forex", *fill[:after], word]
    cancelled = before < 8 if side else after < 2
    assert ("forex" in negated(" ".join(said))) == cancelled
    assert ("forex" in points("x", " ".join(said))) != cancelled


@pytest.mark.parametrize(
    "text",
    [
        "not only forex",
        "No experience needed. Forex desk",
        "we do not sleep\nforex",
        "We say no! Forex desk",
        "nothing but forex",
        "notable forex",
    ],
)
def test_what_only_looks_like_a_negation_cancels_nothing(text):
    assert points("x", text) == {"forex": 400}


@pytest.mark.parametrize(
    "text", ["no forex", "NO, really, forex", "forex not needed", "we not only do not do forex"]
)
def test_a_negation_cancels_a_hit_and_is_quoted(text):
    assert points("x", text) == {}
    assert negated(text)["forex"].lower() in ("no", "not")


def test_a_hit_that_is_negated_in_one_place_counts_in_another_and_both_are_listed():
    hits = score_offer("x", "no forex here. We love forex", RICH).hits
    assert [(hit.points, hit.negated) for hit in hits] == [(400, None), (0, "no")]


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        ("Puesto sin divisas", False),
        ("Trabajamos no solo con divisas", True),
        ("Trabajamos no sólo con divisas", True),
        ("Sin embargo, trabajamos con divisas", True),
        ("A role without treasury", False),
        ("Without doubt the best treasury", True),
    ],
)
def test_the_shipped_rules_understand_both_languages(text, counts):
    assert bool(score_offer("x", text, SHIPPED).points) == counts


def test_a_negation_word_inside_a_keyword_does_not_cancel_it():
    rules = read_rules(RULES_TEXT.replace("[treasury]", "[not for profit]"), "f")
    assert points("x", "not for profit", rules) == {"treasury": 250}


# Bounds


def test_a_hostile_text_takes_no_longer_than_a_plain_one():
    hostile = [
        "no forex " * 7_000,
        "." * 60_000,
        "tipo de " * 8_000,
        "a" * 60_000,
        "\u0301" * 60_000,
        "no " * 20_000,
    ]
    for text in hostile:
        began = time.process_time()
        score_offer(text, text, SHIPPED)
        assert time.process_time() - began < 2


def test_an_offer_that_has_every_word_of_the_rules_lists_a_bounded_number_of_hits():
    names = [f"word{at}" for at in range(200)]
    lines = "\n".join(f"  - {{id: {name}, bucket: money, points: 1, keywords: [{name}]}}" for name in names)
    rules = read_rules(RULES_TEXT + lines, "f")
    said = ". ".join(names)
    score = score_offer("x", said, rules)
    assert len(score.hits) == MAX_HITS
    assert sum(part.points for part in score.parts) == 100 * score.points
    assert len(score.categories) == 200
    assert len(score_offer("x", f"no {'. no '.join(names)}", rules).hits) == MAX_NEGATED


def test_a_pattern_has_no_more_words_than_is_allowed():
    assert max(len(pattern) for each in SHIPPED.categories for pattern in each.keywords) <= MAX_WORDS
