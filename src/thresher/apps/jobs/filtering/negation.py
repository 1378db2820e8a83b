"""Detect negation: "no security clearance required" does not ask for a clearance.

Only the clause around the phrase counts. Two negations cancel out ("nobody without a clearance"), and a word
such as "required" directly after the phrase settles it, so that a later "not" refers to something else.
"""

import re

from thresher.apps.jobs.filtering.phrase import folded

_WORD = re.compile(r"[\w'%]+(?:/[\w]+)?|[.;:!?\n\r|•,()\[\]]")
_SOFT = re.compile(
    r"(?<=[a-z,])\n(?=[a-z])"
)  # a line that was only wrapped; a new point of a list begins otherwise
_WINDOW = 90
_MAX_WORDS = 10
_STOPS = frozenset(".;!?\n\r|•:")
_NEGATORS = frozenset(
    (
        "no",
        "not",
        "never",
        "without",
        "neither",
        "nor",
        "none",
        "non",
        "cannot",
        "nobody",
        "nothing",
        "zero",
        "dont",
        "doesnt",
        "isnt",
        "arent",
        "wont",
        "cant",
        "didnt",
        "wasnt",
        "avoid",
        "avoiding",
        "waive",
        "waived",
        "waives",
        "kein",
        "keine",
        "keinen",
        "keiner",
        "nicht",
        "ohne",
    )
)
_ABANDONED = frozenset(("from", "off"))  # migrating away from, moving off
# "Not only", "no matter": the negation belongs to another word.
_NOT_THIS = frozenset(
    (
        "only",
        "just",
        "matter",
        "limited",
        "later",
        "less",
        "fewer",
        "merely",
        "simply",
        "negotiable",
        "nur",
        "doubt",
    )
)
_SETTLED = frozenset(
    (
        "required",
        "mandatory",
        "needed",
        "necessary",
        "essential",
        "must",
        "needs",
        "requires",
        "erforderlich",
    )
)
_DEMANDS = _SETTLED | {"a", "an", "strictly", "absolutely", "always", "expected", "be", "notwendig"}
_UNNEEDED = frozenset(("optional", "unnecessary", "voluntary", "waived", "unimportant"))
_TURNS = frozenset(
    ("but", "however", "although", "though", "yet", "while", "whereas", "because", "so", "aber")
)
_CONDITIONS = frozenset(
    ("if", "unless", "whether", "wenn")
)  # "if you do not hold one, do not apply" asks for one
_SUBJECTS = frozenset(
    ("you", "we", "i", "they", "he", "she", "who", "which", "that", "this", "these", "our", "your", "there")
)
_ANSWER = re.compile(
    r"(?:\s{1,3}(?:is\s{1,3})?(?:required|needed|necessary|level|status|type|requirements?))?\s{0,3}[)\]*_]{0,3}\s{0,3}[:?=\u2013\u2014-]{1,2}\s{0,3}(?:no|none|not|n/a|never|nein|false)(?!\w)"
)
# A clause without any of these negates nothing; most have none and are skipped.
_HINT = re.compile(
    r"(?<!\w)(?:no|not|nor|none|non|never|nobody|nothing|neither|nein|nicht|without|cannot|zero|avoid|waive|away|kein|ohne|optional|unn|unimp|"
    r"voluntary|n/a|false|free|less|dont|doesnt|isnt|arent|wont|cant|didnt|wasnt)|n't"
)
_FREE = re.compile(r"[\s-](?:free|less)(?!\w)(?!\s+(?:to|of))")


def negated(text: str, start: int, end: int) -> bool:
    """Whether the text takes back what stands at `start` to `end` of it."""
    left = max(0, start - _WINDOW)
    while 0 < left < start and not text[left - 1].isspace():  # half a word may be another one
        left += 1
    low = folded(_SOFT.sub(" ", text[left : end + _WINDOW]))
    return _HINT.search(low) is not None and _takes_back(low, start - left, end - left)


def _takes_back(low: str, start: int, end: int) -> bool:
    if _ANSWER.match(low, end) or _FREE.match(low, end):
        return True
    settled = not _SETTLED.isdisjoint(low[start:end].split())
    before = _before(low, start, end)
    return before != (not settled and _after(low, end))


def _before(low: str, start: int, end: int) -> bool:
    """Whether the clause before is negative, an odd number of times."""
    words = _WORD.findall(low, 0, start)
    count = 0
    for place in range(len(words) - 1, max(-1, len(words) - 1 - _MAX_WORDS), -1):
        word, following = words[place], words[place + 1] if place + 1 < len(words) else ""
        if _breaks(words, place, low, end):
            break
        if word in ("nor", "neither"):
            return True
        if word in _CONDITIONS:
            return False
        left = word == "away" and following in _ABANDONED
        count += left or (_negative(word) and following not in _NOT_THIS)
    return count % 2 == 1


def _breaks(words: list[str], place: int, low: str, end: int) -> bool:
    word = words[place]
    if word in _STOPS or word in _TURNS:
        return True
    if word == "and":
        return place > 0 and words[place - 1] in _SETTLED  # "no degree needed and ...": the next clause
    return word in (",", "(", "[") and not _enumerates(words[place + 1 :], low, end)


def _enumerates(words: list[str], low: str, end: int) -> bool:
    """Whether what follows a comma goes on with a list: "no travel, relocation or clearance"."""
    if "or" in words or "nor" in words:
        return len(words) <= 4
    after = _WORD.findall(low, end)[:4]
    return (
        len(words) <= 2
        and bool({"or", "nor"} & set(after))
        and _SETTLED.isdisjoint(after[: after.index("or") if "or" in after else 4])
    )


def _after(low: str, end: int) -> bool:
    """Whether the rest of the clause is negative: "a clearance is not needed", "optional"."""
    words = _WORD.findall(low, end)[:_MAX_WORDS]
    apart = False
    for place, word in enumerate(words):
        following = words[place + 1] if place + 1 < len(words) else ""
        if word in _UNNEEDED:
            return True
        if word in ("not", "never", "nicht") or word.endswith("n't"):
            # "PHP, not Python" says nothing against PHP; "a plus, not required" does.
            return following in _DEMANDS if apart else following not in _NOT_THIS
        if word == "no" and following == "longer":
            return True
        if word in _STOPS or word in _SETTLED or word in _SUBJECTS:
            return False
        if word in (",", "(", "[") and not _goes_on(following):
            return False
        apart = apart or word in (",", "(", "[")
    return False


def _goes_on(word: str) -> bool:
    """After a comma: "a plus, not a must", "preferred, but not required"."""
    return word in _UNNEEDED or word in ("not", "but", "though", "although", "never")


def _negative(word: str) -> bool:
    return word in _NEGATORS or word.endswith("n't")
