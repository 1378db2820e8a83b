"""What the offers of a company say together. Pure: the same offers give the same figures in any order.

Only canonical offers are scored and counted as unique; what reposts them shows how busily the company posts.
An offer that is closed still counts: most clients show only what is new, so that an offer that is no longer
listed may well be open, and a need that was shown stays shown. `open_offers` and `last_strong_at` say how
fresh it is.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

OPEN, CLOSED = "open", "closed"


@dataclass(frozen=True, slots=True)
class OfferSignal:
    """An offer as it counts for its company. `canonical` is the offer that it reposts; a score of None: not
    scored.
    """

    posting: str
    canonical: str | None = None
    score: int | None = None
    strong: bool = False
    category: str | None = None
    categories: tuple[str, ...] = ()
    first_seen: int = 0
    url: str | None = None
    state: str = OPEN


@dataclass(frozen=True, slots=True)
class CompanyFigures:
    """The figures of a company. `avg_strong_score` is in hundredths, None without a strong offer;
    `posting_activity` is the sum of 1 + reposts; `last_strong_at` is when a strong offer was last published,
    or listed again.
    """

    max_score: int = 0
    offer_count: int = 0
    unique_offer_count: int = 0
    strong_offer_count: int = 0
    open_offers: int = 0
    avg_strong_score: int | None = None
    posting_activity: int = 0
    top_category: str | None = None
    top_offer: str | None = None
    top_offer_url: str | None = None
    category_max_scores: Mapping[str, int] = field(default_factory=dict)
    last_strong_at: int | None = None
    first_seen: int | None = None


def aggregate(offers: Iterable[OfferSignal]) -> CompanyFigures:
    """The figures of the company whose offers these are."""
    listed = sorted(offers, key=lambda each: each.posting)
    openings = _openings(listed)
    strong = [opening for opening in openings if opening[0].strong]
    best = min(openings, key=_rank, default=None)
    top = best[0] if best and best[0].score else None
    return CompanyFigures(
        max_score=(best[0].score or 0) if best else 0,
        offer_count=len(listed),
        unique_offer_count=len(openings),
        strong_offer_count=len(strong),
        open_offers=sum(any(each.state == OPEN for each in opening) for opening in openings),
        avg_strong_score=_average([opening[0].score or 0 for opening in strong]),
        posting_activity=sum(len(opening) for opening in openings),
        top_category=top.category if top else None,
        top_offer=top.posting if top else None,
        top_offer_url=_url(best) if best and top else None,
        category_max_scores=_by_category(openings),
        last_strong_at=max((_published(opening) for opening in strong), default=None),
        first_seen=min((each.first_seen for each in listed), default=None),
    )


Opening = list[OfferSignal]  # a canonical offer, and behind it those that repost it


def _openings(listed: list[OfferSignal]) -> list[Opening]:
    found = {each.posting: [each] for each in listed if each.canonical is None}
    for each in listed:
        if each.canonical is not None and each.canonical in found:
            found[each.canonical].append(each)
    return list(found.values())


def _rank(opening: Opening) -> tuple[int, int, str]:
    """The best score, of these the one that was published last."""
    return (-(opening[0].score or 0), -_published(opening), opening[0].posting)


def _published(opening: Opening) -> int:
    return max(each.first_seen for each in opening)


def _url(opening: Opening) -> str | None:
    """An address that a person can open: that of an open offer, the newest, where there is one."""
    ranked = sorted(
        opening, key=lambda each: (each.url is None, each.state != OPEN, -each.first_seen, each.posting)
    )
    return ranked[0].url


def _average(scores: list[int]) -> int | None:
    """In hundredths, half up."""
    return (200 * sum(scores) + len(scores)) // (2 * len(scores)) if scores else None


def _by_category(openings: list[Opening]) -> dict[str, int]:
    """The best score of an offer in which a category counted."""
    found: dict[str, int] = {}
    for opening in openings:
        for category in opening[0].categories:
            found[category] = max(found.get(category, 0), opening[0].score or 0)
    return dict(sorted(found.items()))
