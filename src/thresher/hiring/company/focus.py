"""Whether a company works from anywhere, and whether it builds with machine learning: said by itself, and not
denied.
"""

import re
from functools import cache

from thresher.hiring.company.dossier import Dossier, DossierLine
from thresher.hiring.company.phrases import one_of
from thresher.hiring.finding import Finding
from thresher.hiring.technology import family, technologies

BEFORE = 40  # characters before a phrase in which it may be denied
MAX_QUOTE = 200
SENTENCE = 30  # characters from which words are a sentence
BEGINNING = 30
_END = re.compile(r"[.!?;]\s")


def remote_first(dossier: Dossier) -> Finding[str] | None:
    """The words in which a company says that it works from anywhere. A role that is remote says nothing about
    the company.
    """
    for line in dossier.lines:
        if line.linked > 0.5:
            continue
        for name, alone in (("remote", True), ("remotely", False)):
            match = _unless_denied(_any_of(name), line.text)
            if match and (alone or _any_of("ourselves").search(line.text)):
                return _quoted(line.text, match.start(), match.end(), line.start)
    return None


def ai_focus(
    dossier: Dossier, *, about: Finding[str] | None, mission: Finding[str] | None, mentions: int
) -> Finding[str] | None:
    """Where a company says that machine learning is what it does: in words about itself, or in so many lines
    of its pages.
    """
    for text in (about, mission, dossier.said("description", "slogan")):
        if text and (told := _mention(text.value, text.start)):
            return told
    found = [(line, place) for line in dossier.lines if (place := _mention(line.text, line.start))]
    told = next((place for line, place in found if _speaks_of_itself(line, place)), None)
    return told or (found[0][1] if len(found) >= mentions else None)


def _speaks_of_itself(line: DossierLine, place: Finding[str]) -> bool:
    """Whether a sentence is about what the company does: it says we, or begins with what does it. A title or
    a link is neither.
    """
    if line.level or line.linked > 0.3 or len(place.value) < SENTENCE:
        return False
    return _any_of("ourselves").search(place.value) is not None or _names_ai(place.value[:BEGINNING])


def _names_ai(text: str) -> bool:
    return any(family(mention.name) == "ai" for mention in technologies(text))


def _mention(text: str, start: int) -> Finding[str] | None:
    for mention in technologies(text):
        if family(mention.name) == "ai" and not denied(text, mention.start):
            return _quoted(text, mention.start, mention.end, start)
    return None


def _unless_denied(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    return next((match for match in pattern.finditer(text) if not denied(text, match.start())), None)


def denied(text: str, at: int) -> bool:
    """Whether a word before it, in the same sentence, turns it round."""
    before = text[max(0, at - BEFORE) : at]
    ends = [match.end() for match in _END.finditer(before)]
    return _any_of("negation").search(before, ends[-1] if ends else 0) is not None


def _quoted(text: str, first: int, last: int, start: int) -> Finding[str]:
    """The sentence around it, as far as a reader needs it."""
    ends = [match.end() for match in _END.finditer(text, 0, first)]
    begin = max(ends[-1] if ends else 0, last - MAX_QUOTE)
    end = _END.search(text, last)
    until = min(end.start() + 1 if end else len(text), begin + MAX_QUOTE)
    return Finding(text[begin:until], start + begin, start + until)


@cache
def _any_of(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{one_of(name)})(?!\w)", re.IGNORECASE)
