"""What a company is worth to one person: points for its city, its technologies, its way of working and what
it builds, and a tier.

Every point is shown with its rule and the words that earned it. Where the person has said nothing, no point
is given, and that is said too: no points for want of a profile must not look like no points for want of an
office.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from thresher.hiring.finding import Finding
from thresher.hiring.records import ScorePart

MAX_QUOTE = 200


@dataclass(frozen=True, slots=True)
class PriorityPoints:
    """What each finding is worth, and from how many points on a company is in a tier."""

    city: int = 50
    technology_most: int = 100
    required: int = 25
    ok: int = 10
    strike: int = -10
    fail: int = -25
    remote_first: int = 15
    ai_focus: int = 10
    tier_s: int = 150
    tier_a: int = 100
    tier_b: int = 70
    tier_c: int = 50


@dataclass(frozen=True, slots=True)
class CompanyFindings:
    """What was found on the company's pages. `technologies` are names with the words around their first
    mention.
    """

    office: Finding[str] | None = None
    technologies: Sequence[tuple[str, str]] = ()
    remote_first: Finding[str] | None = None
    ai_focus: Finding[str] | None = None


@dataclass(frozen=True, slots=True)
class CompanyPriority:
    """The sum of the parts, and the tier that it means."""

    score: int
    tier: str
    parts: tuple[ScorePart, ...]


def priority(
    seen: CompanyFindings, *, city: str | None, ranks: Mapping[str, str] | None, points: PriorityPoints
) -> CompanyPriority:
    """Points and tier. `city` and `ranks` (required, ok, strike, fail by technology) are the person's; None:
    there is no profile.
    """
    parts = (
        _city(seen, city, points),
        *_technologies(seen, ranks, points),
        _part("remote-first", seen.remote_first, points.remote_first, "no page says that it is remote-first"),
        _part(
            "ai focus", seen.ai_focus, points.ai_focus, "no page says that it builds with machine learning"
        ),
    )
    score = max(0, sum(part.points for part in parts))
    return CompanyPriority(score, tier(score, points), parts)


def tier(score: int, points: PriorityPoints) -> str:
    """S to D."""
    bounds = (("S", points.tier_s), ("A", points.tier_a), ("B", points.tier_b), ("C", points.tier_c))
    return next((name for name, least in bounds if score >= least), "D")


def _city(seen: CompanyFindings, city: str | None, points: PriorityPoints) -> ScorePart:
    if not city:
        return ScorePart("city", 0, note="there is no profile, or it names no city")
    return _part("city", seen.office, points.city, f"no page names an office in {city}")


def _part(rule: str, found: Finding[str] | None, points: int, otherwise: str) -> ScorePart:
    return ScorePart(rule, points, found.value[:MAX_QUOTE]) if found else ScorePart(rule, 0, note=otherwise)


def _technologies(
    seen: CompanyFindings, ranks: Mapping[str, str] | None, points: PriorityPoints
) -> Iterator[ScorePart]:
    """One part for each technology that the person has ranked. The sum stays between nothing and the most
    that it may bring.
    """
    if not ranks:
        yield ScorePart("technology", 0, note="there is no profile, or it ranks no technologies")
        return
    worth = {"required": points.required, "ok": points.ok, "strike": points.strike, "fail": points.fail}
    ranked = [(name, ranks[name], quote) for name, quote in seen.technologies if ranks.get(name) in worth]
    if not ranked:
        yield ScorePart("technology", 0, note="no page names a technology that the profile ranks")
        return
    # Those that count most come first, so that the limit takes points from what matters least.
    ranked.sort(key=lambda each: -worth[each[1]])
    total = 0
    for name, rank, quote in ranked:
        after = min(points.technology_most, max(0, total + worth[rank]))
        gained, asked = after - total, worth[rank]
        note = f"{name} is {rank}" + (
            "" if gained == asked else f"; limited to {gained:+} of {asked:+} points"
        )
        yield ScorePart("technology", gained, quote[:MAX_QUOTE], note)
        total = after
