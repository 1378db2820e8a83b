"""What must not and what must be in a listing: the keywords of an item, and the rules of a source."""

import posixpath
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from thresher.apps.prices.matching.comparison import ListingTexts
from thresher.apps.prices.matching.negation import is_denied
from thresher.apps.prices.matching.words import phrase_of
from thresher.apps.prices.model import Listing, RuleKind, SourceRule

MAX_URL = 2_000


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a listing does not count, and the text that decided it."""

    reason: str
    quote: str | None = None


def excluded_by(keywords: Iterable[str], texts: ListingTexts) -> Refusal | None:
    """The first of these keywords that a listing states. "Not cleaned" does not state "cleaned"."""
    for keyword in keywords:
        quote = stated(keyword, texts)
        if quote is not None:
            return Refusal(f"it has the excluded keyword {keyword!r}", quote)
    return None


def stated(keyword: str, texts: ListingTexts) -> str | None:
    """Where a listing states a keyword: its words in a row, in any of its texts, not denied."""
    phrase = phrase_of(keyword)
    for words in texts.statements:
        for at in words.places(phrase):
            if not is_denied(words, at, at + len(phrase)):
                return words.quote(at, at + len(phrase))
    return None


def refused_by_rules(rules: Sequence[SourceRule], listing: Listing, texts: ListingTexts) -> Refusal | None:
    """Why the rules of a source refuse a listing. All that are active hold; the one with the highest priority
    speaks first.
    """
    for rule in sorted((each for each in rules if each.active), key=_order):
        refusal = _refused(rule, listing, texts)
        if refusal is not None:
            return refusal
    return None


def _order(rule: SourceRule) -> tuple[int, str]:
    return -rule.priority, rule.kind.value


def _refused(rule: SourceRule, listing: Listing, texts: ListingTexts) -> Refusal | None:
    match rule.kind:
        case RuleKind.EXCLUDE_KEYWORDS:
            found = excluded_by(rule.values, texts)
            return Refusal(f"a rule of the source: {found.reason}", found.quote) if found else None
        case RuleKind.REQUIRE_KEYWORDS:
            missing = next((each for each in rule.values if stated(each, texts) is None), None)
            return (
                Refusal(f"a rule of the source: it lacks the required keyword {missing!r}")
                if missing
                else None
            )
        case RuleKind.ALLOWED_PATH:
            if not rule.values or any(_is_below(listing.url, each) for each in rule.values):
                return None
            return Refusal(f"a rule of the source: its address is not below {' or '.join(rule.values)}")
        case RuleKind.RATE_LIMIT_OVERRIDE:
            return None  # about how often the source is asked


def _is_below(url: str | None, prefix: str) -> bool:
    """Whether the path of an address begins with a prefix, step by step: "/itm" allows "/itm/7", not
    "/items".
    """
    if url is None or len(url) > MAX_URL:
        return False
    try:
        path = unquote(urlsplit(url).path)
    except ValueError:
        return False
    path = posixpath.normpath(f"/{path.lstrip('/')}") + ("/" if path.endswith("/") else "")
    wanted = f"/{prefix.strip().strip('/')}"
    return wanted == "/" or path.rstrip("/") == wanted or path.startswith(f"{wanted}/")
