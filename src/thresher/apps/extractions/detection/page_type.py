"""What a page is there for: one thing, or a list of links to others.

Points are counted for both readings, each with its reason in words. A page that was found beside others of
its kind is read together with them: links that all of them have are the frame of the site, links that look
like their own addresses are recommendations, and labels that all of them have, with other values, make a
record. Whether links lead to details or to categories is not guessed: it follows from what the samples behind
them are.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from thresher.apps.extractions.detection.link_pattern import main_shape, matches
from thresher.apps.extractions.detection.links import LinkList
from thresher.apps.extractions.detection.look import PageLook
from thresher.apps.extractions.detection.record import COMMON

CERTAIN = 2.0  # points by which one reading must lead
MIN_ROWS = 2
COMMON_SHARE = 0.67  # of the pages on which a link stands that belongs to the frame
RECORD, LONG_RECORD = 3, 8  # labels that make a record
MANY_ROWS = 8
# How much of a page its best list is.
LITTLE, SOME, MUCH = 0.12, 0.25, 0.5
MUCH_PROSE = 400  # characters


class Reading(StrEnum):
    """What a page was read as."""

    DETAIL = "DETAIL"
    LIST = "LIST"


@dataclass(frozen=True, slots=True)
class Siblings:
    """What pages of one level share: the pattern that led to them, the links of the site's frame, and the
    labels of a record.
    """

    pattern: str | None = None
    frame: frozenset[str] = frozenset()
    labels: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Judgement:
    """The points of both readings, and the reasons that were counted. `list` is the list that would be
    followed.
    """

    detail: float = 0.0
    links: float = 0.0
    reasons: tuple[str, ...] = ()
    list: LinkList | None = None

    @property
    def reading(self) -> Reading:
        return Reading.LIST if self.links > self.detail else Reading.DETAIL

    @property
    def lead(self) -> float:
        return abs(self.links - self.detail)

    @property
    def is_certain(self) -> bool:
        return self.lead >= CERTAIN


def siblings_of(looks: Sequence[PageLook], pattern: str | None) -> Siblings:
    """What these pages share."""
    if len(looks) < 2:
        return Siblings(pattern)
    counted = Counter(url for look in looks for url in set(look.links))
    frame = frozenset(url for url, number in counted.items() if number >= max(2, COMMON_SHARE * len(looks)))
    said: dict[str, list[str]] = {}
    for look in looks:
        for label, value in look.told.pairs:
            said.setdefault(label, []).append(value)
    labels = frozenset(
        label for label, values in said.items() if 2 * len(values) > len(looks) and len(set(values)) > 1
    )
    return Siblings(pattern, frame, labels)


def own_lists(look: PageLook, beside: Siblings) -> tuple[LinkList, ...]:
    """The lists of a page without recommendations and without the frame of the site, the best first."""
    found = []
    for each in look.lists:
        urls = [url for url in each.urls if url not in beside.frame and not _is_sibling(url, beside)]
        if len(urls) >= MIN_ROWS or (urls and len(urls) == len(each.urls)):
            share = each.share * len(urls) / len(each.urls)
            score = each.score * len(urls) / len(each.urls)
            found.append(LinkList(tuple(urls), each.titles, share, score, each.rank))
    return tuple(found)


def _is_sibling(url: str, beside: Siblings) -> bool:
    """Whether a link leads to a page like this one: the list it stands in recommends others."""
    return beside.pattern is not None and matches(beside.pattern, url)


def judge(look: PageLook, beside: Siblings) -> Judgement:
    """The two readings of a page."""
    lists = own_lists(look, beside)
    best = lists[0] if lists else None
    detail = list(_of_detail(look, beside, best))
    links = list(_of_list(look, best))
    reasons = (
        *(f"{why} ({points:+g} detail)" for points, why in detail),
        *(f"{why} ({points:+g} list)" for points, why in links),
    )
    return Judgement(sum(each for each, _ in detail), sum(each for each, _ in links), reasons, best)


def _of_detail(look: PageLook, beside: Siblings, best: LinkList | None) -> Iterator[tuple[float, str]]:
    told = look.told
    if told.subjects == 1:
        yield 3.0, f"declares one {told.subject}"
    telling = [name for name in told.fields if name not in COMMON]
    if telling:
        yield min(3.0, float(len(telling))), f"tells {', '.join(telling[:5])} once"
    labels = sum(label in beside.labels for label, _ in told.pairs) if beside.labels else len(told.pairs)
    if labels >= RECORD and told.repeated <= labels:
        sure = beside.labels or labels >= LONG_RECORD
        yield (2.0 if sure else 1.0), f"has {labels} labels that stand once"
    if (best is None or best.score < SOME) and look.paging is None and look.prose >= MUCH_PROSE:
        yield 1.0, "is mostly text that is no row of a list"
    if best is None and beside.pattern is not None:
        yield 1.0, "was reached from a list, and leads to no other"


def _of_list(look: PageLook, best: LinkList | None) -> Iterator[tuple[float, str]]:
    told = look.told
    if told.subjects > 1:
        yield 2.0, f"declares {told.subjects} things"
    if told.declares_list:
        yield 1.0, "declares that it is a list"
    if best is None:
        return
    rows = len(best.urls)
    if look.paging is not None:
        yield 2.0, "goes on with another page"
    if best.score >= LITTLE:
        points = 2.5 if best.score >= MUCH else 1.5 if best.score >= SOME else 0.5
        yield points, f"is {best.share:.0%} of it rows"
    if rows >= MANY_ROWS and (best.score >= LITTLE or look.paging is not None):
        yield 1.0, f"has {rows} links of one kind"
    if told.repeated >= 2:
        yield 1.0, f"repeats {told.repeated} labels"


@dataclass(frozen=True, slots=True)
class LevelJudgement:
    """What the sampled pages of a level are together. `lead` is by how many points a page; `mixed` are the
    addresses that are surely something else than most.
    """

    reading: Reading
    certain: bool
    lead: float = 0.0
    pages: tuple[tuple[str, Judgement], ...] = ()
    mixed: tuple[str, ...] = ()

    @property
    def reasons(self) -> tuple[str, ...]:
        counted = Counter(reason for _, judgement in self.pages for reason in judgement.reasons)
        return tuple(reason for reason, _ in counted.most_common(6))


def judge_level(looks: Sequence[PageLook], pattern: str | None) -> LevelJudgement:
    """What pages of one level are: the reading with more points over all, certain where most pages are."""
    beside = siblings_of(looks, pattern)
    judged = tuple((look.asked, judge(look, beside)) for look in looks)
    detail, links = sum(each.detail for _, each in judged), sum(each.links for _, each in judged)
    reading = Reading.LIST if links > detail else Reading.DETAIL
    sure = sum(each.is_certain and each.reading is reading for _, each in judged)
    against = tuple(url for url, each in judged if each.is_certain and each.reading is not reading)
    lead = abs(links - detail) / max(1, len(judged))
    certain = not against and (2 * sure > len(judged) or lead >= CERTAIN)
    return LevelJudgement(reading, certain, lead, judged, against)


def example_links(judgement: Judgement) -> list[str]:
    """The addresses of a list that have the shape of most."""
    return main_shape(judgement.list.urls) if judgement.list is not None else []
