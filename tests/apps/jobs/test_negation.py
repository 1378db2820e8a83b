"""Sentences that take back what they seem to say, and sentences that only look as if they did."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.apps.jobs.filtering.negation import negated
from thresher.apps.jobs.filtering.phrase import Phrase, folded, sentence

TAKEN_BACK = [
    "No security clearance required.",
    "A security clearance is not required.",
    "Security clearance isn't required.",
    "Security clearance isn\u2019t needed.",
    "This role does not require a security clearance.",
    "This role doesn't require any security clearance",
    "You do not need to hold or obtain a security clearance.",
    "You don't need a security clearance to apply",
    "You dont need a security clearance",
    "There is no requirement for a security clearance.",
    "Neither a degree nor a security clearance is needed.",
    "It does not require travel nor security clearance",
    "Security clearance: none",
    "Security clearance: No",
    "Security clearance: N/A",
    "Security clearance required? No.",
    "Security clearance needed: no",
    "SECURITY CLEARANCE LEVEL:\nNone",
    "Security clearance requirement: not required",
    "Security clearance - not required",
    "Security clearance is optional",
    "Security clearance is preferred but not required",
    "Security clearance preferred, but not required",
    "Security clearance is a plus, not a requirement",
    "Security clearance (not required)",
    "Security clearance is never required",
    "Security clearance will not be required",
    "Security clearance not needed",
    "We work without security clearance",
    "No travel, relocation, or security clearance required",
    "No travel, security clearance or relocation",
    "No travel, security clearance nor relocation",
    "We never ask for a security clearance",
    "Security clearance is no longer required",
    "Security clearance unnecessary",
    "You won't need a security clearance",
    "You will not be asked for a security clearance",
    "The security clearance requirement has been waived",
    "No degree or security clearance needed",
    "An active security clearance is not necessary for this position.",
    "Security clearance and relocation are not required",
    "We do not\nrequire a security clearance.",
    "Non-security clearance position",
    "This is a no security clearance role",
    "We can't sponsor visas, but you don\u2019t need a security clearance",
    "Candidates are not required to have a security clearance",
    "Having a security clearance is not a must",
    "NO SECURITY CLEARANCE REQUIRED",
]
MEANT = [
    "Security clearance required.",
    "Must hold a security clearance",
    "Active security clearance is mandatory, relocation is not required",
    "Security clearance required, remote is not possible",
    "No visa sponsorship. Security clearance required",
    "No visas, security clearance required",
    "No visas, security clearance required or a waiver",
    "You do not need a degree, but security clearance is required",
    "No degree needed and security clearance required",
    "Not only a security clearance but also references",
    "No matter where you live, a security clearance is needed",
    "Including but not limited to security clearance",
    "Nobody without a security clearance will be considered",
    "Candidates without a security clearance will not be considered",
    "Applicants who cannot obtain a security clearance need not apply",
    "Security clearance (not negotiable)",
    "- No travel\n- Security clearance",
    "No travel\nSecurity clearance",
    "We don't hire juniors; security clearance is needed",
    "You will need a security clearance and you will not travel",
    "This work is not remote. A security clearance is a must.",
    "If you do not hold a security clearance, do not apply",
    "Unless you hold a security clearance, do not apply",
    "Security clearance",
    "Security clearance level: Secret",
    "SECURITY CLEARANCE LEVEL:\nSecret",
    "Piano players with a security clearance",
]
CLEARANCE = Phrase("security clearance")


def taken_back(text: str, phrase: Phrase = CLEARANCE) -> bool:
    start, end = next(phrase.hits(folded(text)))
    return negated(text, start, end)


@pytest.mark.promise(13)
@pytest.mark.parametrize("text", TAKEN_BACK)
def test_a_sentence_that_takes_it_back_asks_for_nothing(text: str):
    assert taken_back(text)


@pytest.mark.promise(13)
@pytest.mark.parametrize("text", MEANT)
def test_a_negation_of_something_else_takes_nothing_back(text: str):
    assert not taken_back(text)


@pytest.mark.promise(13)
@pytest.mark.parametrize(
    ("word", "text", "back"),
    [
        ("must relocate", "Nobody must relocate", True),
        ("must relocate", "You must relocate to Boise", False),
        ("relocation required", "Relocation required: no", True),
        ("relocation required", "Relocation required, no exceptions", False),
        ("commission only", "This is not commission only", True),
        ("commission only", "Commission-only, not for everybody", False),
        ("mlm", "We are not an MLM", True),
        ("php", "You will not write any PHP", True),
        ("php", "a PHP-free zone", True),
        ("php", "We are migrating away from PHP", True),
        ("php", "PHP, not Python", False),
        ("java", "Python (no Java)", True),
        ("java", "No surprises: Java and Spring", False),
        ("ninja", "We do not look for ninjas or a ninja", True),
    ],
)
def test_negation_works_for_any_phrase(word: str, text: str, back: bool):
    assert taken_back(text, Phrase(word)) is back


@pytest.mark.parametrize(
    ("phrase", "text", "found"),
    [
        ("entry-level", "Entry Level Engineer", True),
        ("entry-level", "entry\u2011level engineer", True),
        ("co-op", "Coop student", True),
        ("co-op", "co-operation", False),
        ("intern", "Internal Tools Engineer", False),
        ("intern", "Engineering Intern (Summer)", True),
        ("hr", "Chris Three", False),
        ("hr", "HR-Manager", True),
        ("customer success", "Customer\n  Success Lead", True),
        ("security clearance", "security   clearance", True),
        ("security clearance", "security of any clearance", False),
        ("c", "C++ and C#", False),
        ("100% commission", "100% Commission!", True),
        ("straße", "STRASSE", False),
    ],
)
def test_a_phrase_stands_as_whole_words_with_any_dash_and_any_space(phrase: str, text: str, found: bool):
    assert (folded(text) in Phrase(phrase)) is found


WORDS = st.sampled_from(
    [
        "no",
        "not",
        "without",
        "security",
        "clearance",
        "security clearance",
        "required",
        "but",
        "and",
        "or",
        "nor",
        ",",
        ".",
        "\n",
        ":",
        "?",
        "if",
        "you",
        "is",
        "n't",
        "don't",
        "(",
        ")",
        "İ",
        "ß",
        "-",
        "\u2019",
        "\x00",
        "need",
        "free",
        "away",
        "from",
        "optional",
    ]
)


@given(st.lists(WORDS, max_size=40).map(" ".join) | st.text(max_size=200), st.text(max_size=20))
def test_reading_never_fails_and_folding_keeps_every_place(text: str, phrase: str):
    assert len(folded(text)) == len(text)
    for start, end in (Phrase(phrase) if any(map(str.isalnum, phrase)) else CLEARANCE).hits(folded(text)):
        negated(text, start, end)
        left, right = sentence(text, start, end)
        assert left <= start <= end <= right


def test_a_hostile_text_costs_no_more_than_its_length():
    """Counted in steps, not in time: a phrase is compared only where its first word stands."""
    text = "security " * 20_000 + "clearance"
    assert len(list(CLEARANCE.hits(text))) == 1
    assert not negated(
        "not " * 50_000 + "security clearance.", 200_000, 200_018
    )  # an even number of them in sight
