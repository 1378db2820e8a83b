"""The plan of a detection: from all that was seen so far to the next page to look at, or to the result.

It is one pure function of what was seen. A detection that was interrupted, or that is tried again, comes to
the same next step; a page that was looked at is never asked for twice. The order is that of a careful person:
the root, an API if there is one, the list that leads on, its second page and its end, a few pages behind it,
and so on down to the pages that are about one thing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from thresher.apps.extractions.api.definition import open_api
from thresher.apps.extractions.detection.endpoints import Rows, second_page, source_of
from thresher.apps.extractions.detection.link_pattern import joined, link_pattern, main_shape, matches
from thresher.apps.extractions.detection.links import MAX_URLS, LinkList
from thresher.apps.extractions.detection.look import PageLook
from thresher.apps.extractions.detection.page_type import (
    MUCH_PROSE,
    RECORD,
    Judgement,
    LevelJudgement,
    Reading,
    judge_level,
    own_lists,
    siblings_of,
)
from thresher.apps.extractions.detection.paging_proof import PagingProof, Prover
from thresher.apps.extractions.detection.record import COMMON
from thresher.apps.extractions.detection.report import (
    Choice,
    Confidence,
    Estimate,
    LevelReport,
    Question,
    Report,
    SampleReport,
)
from thresher.apps.extractions.detection.sampling import exactly, interleaved, plus, times
from thresher.apps.extractions.detection.steps import (
    Ask,
    Asked,
    Found,
    Hopeless,
    Needs,
    Step,
    Unclear,
    Want,
    Why,
)
from thresher.apps.extractions.model import (
    MAX_LEVELS,
    ApiSource,
    Configuration,
    Entity,
    Level,
    PageType,
    Pagination,
    PagingKind,
)
from thresher.core.errors import ConfigError
from thresher.core.stored import written

MAX_CATEGORY_LEVELS = 3
MAX_CANDIDATES = 3  # lists of one page that are tried
MAX_FAILED = 4  # samples of a level that may not answer
MAX_EMPTY = 8  # samples of a level that may say that they are empty
MIN_API_FIELDS = 0.5  # of the required fields that an API must tell
LIKELY = 0.5  # points a page by which one reading must lead to be taken without being certain
RIVAL = 0.75  # of the best list's score from which another one is a rival
MENU = 0.8  # of a list's links that every page behind it has, too
ROUND = frozenset({10, 12, 15, 16, 20, 24, 25, 30, 36, 40, 48, 50, 60, 100})  # rows at which lists are cut


@dataclass(frozen=True, slots=True)
class Case:
    """What a detection is about, and all that was seen so far: `looks` by address (`render:` before one that
    was rendered), `opinions` of a model. `given` is what a person has decided.
    """

    url: str
    entity: Entity
    looks: Mapping[str, PageLook] = field(default_factory=dict)
    opinions: Mapping[str, Asked] = field(default_factory=dict)
    given: Configuration | None = None
    samples: int = 4
    can_ask: bool = False
    can_render: bool = False


@dataclass(frozen=True, slots=True)
class _Followed:
    """The list that is followed from the pages of a level. `pages` is how many pages each of its lists has,
    `rows` how many links each list that was looked at has in all.
    """

    pattern: str | None
    examples: tuple[str, ...]
    proof: PagingProof
    children: tuple[PageLook, ...]
    judged: LevelJudgement
    failed: tuple[PageLook, ...]
    list_pages: tuple[Estimate, ...]
    rows: tuple[Estimate, ...]
    fit: float = 0.0


def plan(case: Case) -> Step:
    """The next step of a detection."""
    try:
        return _Planner(case).concluded()
    except Needs as needs:
        return needs.step


class _Planner:
    """One pass over what was seen. It stops at the first page that is missing."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.notes: list[str] = []
        self.by_model = False
        self.empty: PageLook | None = None  # where all that a list leads to says that it has nothing
        self.levels: list[Level] = []
        self.reports: list[LevelReport] = []

    # --- what was seen

    def page(self, url: str, why: Why, level: int, *, render: bool = False) -> PageLook:
        """The look at a page; without one, the plan ends with the wish to look at it."""
        found = self.case.looks.get(f"render:{url}" if render else url)
        if found is None:
            raise Needs(Want(url, why, level, render=render))
        return found

    def drawn(self, url: str, why: Why, level: int) -> PageLook:
        """The look at a page, rendered where it is nothing without its scripts."""
        found = self.page(url, why, level)
        if found.shell is None or found.trouble is not None or not self.case.can_render:
            return found
        return self.page(url, why, level, render=True)

    def asked(self, about: str, look: PageLook) -> Asked | None:
        """A model's opinion, if one can be had."""
        key = f"{about}:{look.asked}"
        known = self.case.opinions.get(key)
        if known is None and self.case.can_ask:
            raise Needs(Ask(about, look.asked, key))
        if known is not None and known.agreed:
            self.by_model = True
            return known
        return None

    def given(self, depth: int) -> Level | None:
        """What a person has decided about a level."""
        levels = self.case.given.levels if self.case.given is not None else ()
        return levels[depth] if depth < len(levels) else None

    # --- the result

    def concluded(self) -> Step:
        if self.case.given is not None and self.case.given.api is not None:
            return self._api_found(self.case.given.api, None, "as the recipe says")
        root = self.page(self.case.url, Why.ROOT, 0)
        if root.trouble is not None:
            return Hopeless(root.trouble)
        if (api := self._api(root)) is not None:
            return api
        if root.shell is not None:
            if not self.case.can_render:
                return Hopeless(
                    f"{root.shell}, no API was found behind it, and no browser is available here; install one, or "
                    "give the recipe a configuration"
                )
            root = self.drawn(self.case.url, Why.ROOT, 0)
            if root.trouble is not None:
                return Hopeless(root.trouble)
        return self._descend(root)

    def _descend(self, root: PageLook) -> Step:
        pages: Sequence[PageLook] = (root,)
        judged = self._judged(pages, None, 0)
        failed: tuple[PageLook, ...] = ()
        pattern: str | None = None
        number = exactly(1)
        total = exactly(0)
        for depth in range(MAX_LEVELS):
            reading = self._reading(judged, pages, depth)
            if isinstance(reading, Unclear):
                return reading
            self._call_last_level(reading)
            if reading is Reading.DETAIL:
                self._add_detail(judged, pages, failed, number)
                return self._found(plus(total, number), number)
            if depth >= MAX_CATEGORY_LEVELS + 1 or depth == MAX_LEVELS - 1:
                return Hopeless(
                    f"after {depth} levels of lists there are still no pages about one {self.case.entity.name}; "
                    "give the recipe the address of a list that is closer to them"
                )
            followed = self._follow(pages, pattern, depth)
            if not isinstance(followed, _Followed):
                return followed
            of_lists = times(number, followed.list_pages)
            of_links = times(number, followed.rows)
            others = number.likely is None or number.likely > len(pages)
            self._add_list(judged, pages, failed, followed, of_lists, depth, others=others)
            total, number = plus(total, of_lists), of_links
            pages, judged, pattern, failed = (
                followed.children,
                followed.judged,
                followed.pattern,
                followed.failed,
            )
        return Hopeless("the site has more levels than can be followed")

    # --- reading one level

    def _judged(self, pages: Sequence[PageLook], pattern: str | None, depth: int) -> LevelJudgement:
        judged = judge_level(pages, pattern)
        given = self.given(depth)
        if given is None:
            return judged
        reading = Reading.DETAIL if given.page_type.holds_data else Reading.LIST
        return replace(judged, reading=reading, certain=True, mixed=())

    def _reading(self, judged: LevelJudgement, pages: Sequence[PageLook], depth: int) -> Reading | Unclear:
        """What the pages of a level are: by rules where they are certain, else by a model, else a person is
        asked.
        """
        if judged.certain:
            return judged.reading
        if judged.mixed:
            return self._mixed(judged, pages, depth)
        opinion = self.asked("page_type", pages[0])
        if opinion is not None:
            return Reading.DETAIL if opinion.value == PageType.DETAIL else Reading.LIST
        if judged.lead >= LIKELY and (judged.reading is Reading.LIST or _tells(pages)):
            self.notes.append(
                f"level {depth + 1}: the pages look like {_words(judged.reading)}, though not for certain"
            )
            return judged.reading
        return self._unclear(judged, pages, depth)

    def _mixed(self, judged: LevelJudgement, pages: Sequence[PageLook], depth: int) -> Reading | Unclear:
        """Some pages are surely something else than the others. A model may say that this is an accident of
        layout; without one it is for a person to decide.
        """
        odd = [look for look in pages if look.asked in judged.mixed]
        opinions = [
            self.asked("page_type", look) for look in (odd[0], *(each for each in pages if each not in odd))
        ][:2]
        readings = {
            Reading.DETAIL if each.value == PageType.DETAIL else Reading.LIST for each in opinions if each
        }
        if len(readings) == 1 and all(opinions):
            return readings.pop()
        return self._unclear(judged, pages, depth)

    def _unclear(self, judged: LevelJudgement, pages: Sequence[PageLook], depth: int) -> Unclear:
        above = self.levels[:depth]
        details = [
            look.asked
            for look, (_, each) in zip(pages, judged.pages, strict=True)
            if each.reading is Reading.DETAIL
        ]
        lists = [look.asked for look in pages if look.asked not in details]
        if details and lists:
            asks = (
                f"Pages of one list differ: {details[0]} looks like a {self.case.entity.name}, {lists[0]} like a "
                "list of more. Which of them are meant?"
            )
        else:
            asks = f"Is {pages[0].asked} about one {self.case.entity.name}, or is it a list of links to them?"
        choices = (
            Choice(f"Each page is about one {self.case.entity.name}.", _choice(above, PageType.DETAIL)),
            Choice("Each page is a list of links to them.", _choice(above, PageType.DETAIL_LINKS)),
            Choice("Each page is a list of categories.", _choice(above, PageType.CATEGORY_LINKS)),
        )
        return Unclear(Question(asks, choices), self._report(Estimate(), Estimate()))

    # --- following a list

    def _follow(self, pages: Sequence[PageLook], pattern: str | None, depth: int) -> _Followed | Step:
        given = self.given(depth)
        beside = siblings_of(pages, pattern)
        candidates = [own_lists(look, beside) for look in pages]
        if given is not None and given.link_pattern:
            chosen = [[url for url in look.links if matches(str(given.link_pattern), url)] for look in pages]
            return self._tried(pages, chosen, str(given.link_pattern), depth) or self._no_list(pages, depth)
        tried: list[_Followed] = []
        for place in range(min(MAX_CANDIDATES, max(map(len, candidates), default=0))):
            if tried and not self._is_rival(candidates, place):
                break
            chosen = _same_list(pages, candidates, place)
            followed = self._tried(pages, chosen, None, depth)
            if followed is not None and not self._is_menu(chosen, followed, depth):
                tried.append(followed)
        best = self._best(tried)
        if best is not None:
            return best
        return self._by_model(pages, depth) or self._no_list(pages, depth, tried)

    @staticmethod
    def _is_rival(candidates: Sequence[Sequence[LinkList]], place: int) -> bool:
        first = candidates[0]
        return len(first) > place and first[place].score >= RIVAL * first[0].score

    @staticmethod
    def _is_menu(chosen: Sequence[Sequence[str]], followed: _Followed, depth: int) -> bool:
        """Whether the pages behind a list all have that list again."""
        urls = set(chosen[0])
        if (
            depth > 0
            or not followed.children
            or (followed.judged.reading is Reading.DETAIL and followed.fit >= 1)
        ):
            return False
        shares = [len(urls & set(child.links)) / len(urls) for child in followed.children]
        return min(shares) >= MENU and len(followed.children) > 1

    @staticmethod
    def _best(tried: Sequence[_Followed]) -> _Followed | None:
        """The list whose pages tell most of what is wanted; None where two are equally good, and lead to
        different kinds of pages.
        """
        good = [each for each in tried if each.judged.certain] or list(tried)
        if len(good) < 2:
            return good[0] if good else None
        first, second = sorted(good, key=lambda each: -each.fit)[:2]
        same = first.judged.reading is second.judged.reading is Reading.LIST
        return first if first.fit >= second.fit + 1 or same else None

    def _by_model(self, pages: Sequence[PageLook], depth: int) -> _Followed | None:
        """The list that a model points at: it names links that stand on the page, and the pattern is ours."""
        opinion = self.asked("links", pages[0])
        if opinion is None or not opinion.urls:
            return None
        pattern = link_pattern(opinion.urls) or ""
        chosen = [[url for url in look.links if pattern and matches(pattern, url)] for look in pages]
        chosen[0] = chosen[0] or list(opinion.urls)
        return self._tried(pages, chosen, None, depth)

    def _no_list(
        self, pages: Sequence[PageLook], depth: int, tried: Sequence[_Followed] = ()
    ) -> Unclear | Hopeless:
        if len(tried) > 1:
            choices = tuple(
                Choice(
                    f"Follow links such as {each.examples[0]}.",
                    _choice(self.levels[:depth], PageType.DETAIL_LINKS, each.pattern),
                )
                for each in tried
                if each.examples
            )
            asks = (
                f"{pages[0].asked} has several lists. Which one leads to the {self.case.entity.name} pages?"
            )
            return Unclear(Question(asks, choices), self._report(Estimate(), Estimate()))
        said = pages[0] if pages[0].empty else self.empty
        empty = f' {said.asked} says "{said.empty}".' if said else ""
        return Hopeless(
            f"no list of links was recognised on {pages[0].asked}.{empty} Give the recipe the address of a list, or "
            "a configuration"
        )

    def _tried(
        self, pages: Sequence[PageLook], chosen: Sequence[Sequence[str]], pattern: str | None, depth: int
    ) -> _Followed | None:
        """What following these links comes to. `chosen` are the links of each page."""
        wanted = [url for urls in chosen for url in urls]
        if not wanted:
            return None
        if pattern is None:
            others = _others(pages, wanted)
            pattern = link_pattern(wanted, others) or link_pattern(main_shape(wanted), others)
        prover = Prover(self.page, pattern, depth)
        proofs = self._proofs(pages, chosen, prover)
        pattern, extra = self._widened(pattern, pages, wanted, proofs)
        pools = [*(proof.urls for proof in proofs), *((extra,) if extra else ())]
        children, failed = self._children(interleaved(pools), depth + 1)
        if not children:
            return None
        pattern = self._with_aliases(pattern, wanted, children)
        judged = self._judged(children, pattern, depth + 1)
        proof = next((each for each in proofs if each.pagination is not None), proofs[0])
        return _Followed(
            pattern,
            tuple(main_shape(wanted)[:5]),
            proof,
            children,
            judged,
            failed,
            tuple(each.pages for each in proofs),
            tuple(each.rows for each in proofs),
            _fit(children),
        )

    def _proofs(
        self, pages: Sequence[PageLook], chosen: Sequence[Sequence[str]], prover: Prover
    ) -> list[PagingProof]:
        """The first page of a level whose list goes on is walked to its end; of the others the first page
        speaks for itself.
        """
        given = self.given(prover.depth)
        walked = next((at for at, look in enumerate(pages) if look.paging is not None and chosen[at]), None)
        proofs = []
        for at, look in enumerate(pages):
            if not chosen[at]:
                continue
            if at == walked:
                proofs.append(prover.proved(look, chosen[at]))
            else:
                proofs.append(prover.first_page(chosen[at]))
        if walked is None and proofs and len(chosen[0]) in ROUND:
            proofs[0] = self._paging_by_model(pages[0], chosen[0], prover) or proofs[0]
        if given is not None and given.pagination is not None and proofs:
            proofs[0] = replace(proofs[0], pagination=given.pagination)
        return proofs

    def _paging_by_model(self, look: PageLook, urls: Sequence[str], prover: Prover) -> PagingProof | None:
        """A list that is cut at a round number goes on somewhere, perhaps. A model may see where."""
        opinion = self.asked("pagination", look)
        if opinion is None or not opinion.urls:
            return None
        proof = prover.by_next(look, urls, opinion.urls[0])
        return proof if proof.pagination is not None else None

    def _children(self, urls: Sequence[str], depth: int) -> tuple[tuple[PageLook, ...], tuple[PageLook, ...]]:
        """Samples of the next level, as many as wanted, and those that show nothing of what its pages look
        like: they did not answer, or say that they are empty.
        """
        good: list[PageLook] = []
        bad: list[PageLook] = []
        empty: list[PageLook] = []
        for url in urls:
            if len(good) >= self.case.samples or len(bad) >= MAX_FAILED or len(empty) >= MAX_EMPTY:
                break
            look = self.drawn(url, Why.SAMPLE, depth)
            if look.trouble is None and _is_empty(look):
                empty.append(replace(look, trouble=f'it says "{look.empty}"'))
            else:
                (bad if look.trouble is not None or look.is_data else good).append(look)
        if empty and not good:
            self.empty = empty[0]
        return tuple(good), (*bad, *empty)

    def _widened(
        self,
        pattern: str | None,
        pages: Sequence[PageLook],
        wanted: Sequence[str],
        proofs: Sequence[PagingProof],
    ) -> tuple[str | None, tuple[str, ...]]:
        """The pattern with the rows that other pages of the list have and the first one does not, such as
        addresses that lead on to the usual ones.
        """
        given = self.given(len(self.levels))
        looks = [look for proof in proofs for look in proof.looks if look not in pages]
        if pattern is None or not looks or (given is not None and given.link_pattern):
            return pattern, ()
        rows = [url for look in looks for url in _rows_of_list(look, pattern)]
        extra = tuple(dict.fromkeys(url for url in rows if not matches(pattern, url)))
        wider = link_pattern([*wanted, *rows], _others([*pages, *looks], [*wanted, *rows])) if extra else None
        return (wider, extra) if wider is not None else (pattern, ())

    @staticmethod
    def _with_aliases(pattern: str | None, wanted: Sequence[str], children: Sequence[PageLook]) -> str | None:
        """A row whose address leads on to one of the usual shape is another name for it: `/go/17`."""
        if pattern is None:
            return None
        aliases = [
            look.asked
            for look in children
            if look.asked in wanted and not matches(pattern, look.asked) and matches(pattern, look.url)
        ]
        alias = link_pattern(aliases) if aliases else None
        return joined((pattern, alias)) if alias else pattern

    # --- levels of the configuration and of the report

    def _add_list(
        self,
        judged: LevelJudgement,
        pages: Sequence[PageLook],
        failed: Sequence[PageLook],
        followed: _Followed,
        number: Estimate,
        depth: int,
        *,
        others: bool,
    ) -> None:
        """`others` says that the level has lists that nobody has looked at."""
        given = self.given(depth)
        kind = _kind_above(followed.judged.reading)
        pagination = followed.proof.pagination
        if pagination is None and others and not any(look.paging for look in pages):
            pagination = Pagination(PagingKind.NEXT_LINK)
            self.notes.append(
                f"level {depth + 1}: no list that was looked at goes on; others are followed where they name a next page"
            )
        base = given if given is not None else Level(render=_render(pages))
        level = replace(
            base,
            page_type=kind,
            link_pattern=followed.pattern,
            follow_rows=given.follow_rows if given else kind is PageType.DETAIL_LINKS,
            pagination=pagination,
        )
        self.levels.append(level)
        self.reports.append(
            LevelReport(
                kind,
                "a person" if given else "rules",
                judged.certain,
                judged.reasons,
                _samples(pages, failed, judged),
                max(map(len, (look.lists[0].urls for look in pages if look.lists)), default=None),
                followed.examples,
                followed.proof.report,
                number,
            )
        )
        self.notes += followed.proof.report.notes if followed.proof.report else ()

    def _call_last_level(self, reading: Reading) -> None:
        """Call the level above by what it leads to: where rules were not certain, that is known only now."""
        kind = _kind_above(reading)
        if not self.levels or self.levels[-1].page_type is kind:
            return
        given = self.given(len(self.levels) - 1)
        follow_rows = given.follow_rows if given else kind is PageType.DETAIL_LINKS
        self.levels[-1] = replace(self.levels[-1], page_type=kind, follow_rows=follow_rows)
        self.reports[-1] = replace(self.reports[-1], page_type=kind)

    def _add_detail(
        self,
        judged: LevelJudgement,
        pages: Sequence[PageLook],
        failed: Sequence[PageLook],
        number: Estimate,
    ) -> None:
        given = self.given(len(self.levels))
        several = all(look.told.subjects > 1 or look.told.repeated > len(look.told.pairs) for look in pages)
        level = given if given is not None else Level(PageType.DETAIL, render=_render(pages), several=several)
        self.levels.append(level)
        self.reports.append(
            LevelReport(
                level.page_type,
                "a person" if given else "rules",
                judged.certain,
                judged.reasons,
                _samples(pages, failed, judged),
                pages=number,
            )
        )

    def _found(self, pages: Estimate, items: Estimate) -> Found:
        details = tuple(sample.url for sample in self.reports[-1].samples if sample.trouble is None)
        return Found(
            Configuration(tuple(self.levels)),
            self._report(pages, items),
            "model" if self.by_model else "rules",
            details,
        )

    def _report(self, pages: Estimate, items: Estimate) -> Report:
        return Report(
            made_by="model" if self.by_model else "rules",
            levels=tuple(self.reports),
            pages=pages,
            items=items,
            notes=tuple(dict.fromkeys(self.notes)),
            requests=len(self.case.looks),
        )

    # --- APIs

    def _api(self, root: PageLook) -> Step | None:
        """An API in place of pages: the root itself, a vendor's, or one that the page's script asks."""
        if root.is_data:
            return self._of_answer(root) or Hopeless(
                f"{root.asked} answers with data, but no rows in it tell what a {self.case.entity.name} is"
            )
        if root.vendor is not None:
            probe = self.page(root.vendor.probe, Why.API, 0)
            if probe.is_data:
                vendor = ApiSource(vendor=root.vendor.name, parameters=root.vendor.parameters)
                return self._api_found(vendor, None, f"the catalogue runs on {root.vendor.title}")
        # A page that shows its rows is read as it is: what its scripts ask for besides is its own business.
        if root.shell is None and root.lists:
            return None
        return self._behind(root) if root.shell is not None else None

    def _behind(self, root: PageLook) -> Step | None:
        candidates = list(root.endpoints)
        if not candidates:
            for url in root.scripts:
                candidates += self.page(url, Why.SCRIPT, 0).endpoints
        for url in dict.fromkeys(candidates):
            look = self.page(url, Why.API, 0)
            if look.is_data and (found := self._of_answer(look)) is not None:
                return found
        return None

    def _of_answer(self, look: PageLook) -> Step | None:
        rows = look.rows
        if rows is None or not self._tells_enough(rows):
            return None
        source = source_of(look.asked, rows)
        following = second_page(source)
        if following is not None and rows.claimed != rows.number:
            second = self.page(following, Why.API, 0)
            if second.rows is None or set(second.rows.keys) <= set(rows.keys):
                self.notes.append("the API did not answer with other rows for its second page")
                source = source_of(look.asked, rows, paged=False)
        try:
            open_api(source, self.case.entity)
        except ConfigError as problem:
            self.notes.append(f"{look.asked} has rows, but {problem}")
            return None
        return self._api_found(source, rows, f"{look.asked} answers with {rows.number} rows")

    def _tells_enough(self, rows: Rows) -> bool:
        wanted = [each.name for each in self.case.entity.schema.fields if each.required and not each.judged]
        told = sum(name in rows.fields for name in wanted)
        return (
            bool(rows.fields)
            and told >= MIN_API_FIELDS * len(wanted)
            and bool(rows.fields.keys() - COMMON or wanted)
        )

    def _api_found(self, source: ApiSource, rows: Rows | None, why: str) -> Found:
        total = rows.claimed if rows is not None else None
        pages = -(-total // rows.number) if rows is not None and total and rows.number else None
        self.reports.append(LevelReport(PageType.API, certain=True, reasons=(why,)))
        items = exactly(total, Confidence.CHECKED) if total is not None else Estimate()
        report = self._report(exactly(pages, Confidence.CHECKED) if pages else Estimate(), items)
        return Found(Configuration(api=source), report, "rules", (), rows.sample if rows is not None else ())


def _kind_above(reading: Reading) -> PageType:
    """What a list is that leads to such pages."""
    return PageType.DETAIL_LINKS if reading is Reading.DETAIL else PageType.CATEGORY_LINKS


def _tells(pages: Sequence[PageLook]) -> bool:
    """Whether most of these pages tell anything that is wanted, or have labels. A page that leads nowhere is
    not about one thing for that alone: a list may be short.
    """
    telling = (
        bool(look.told.subjects or set(look.told.fields) - COMMON or look.told.pairs) for look in pages
    )
    return 2 * sum(telling) > len(pages)


def _is_empty(look: PageLook) -> bool:
    """Whether a page says that it has nothing, and has neither text nor data of its own. A page about one
    thing may say that nobody has written about it.
    """
    is_bare = look.prose < MUCH_PROSE and look.paging is None
    return bool(look.empty) and is_bare and not look.told.subjects and len(look.told.pairs) < RECORD


def _same_list(
    pages: Sequence[PageLook], candidates: Sequence[Sequence[LinkList]], place: int
) -> list[list[str]]:
    """The links of one list on each page of a level: on one page by its place, on the others whatever looks
    like those. A list of a single row is a list, too, where its siblings have longer ones.
    """
    model = max((lists[place] for lists in candidates if len(lists) > place), key=lambda each: len(each.urls))
    pattern = link_pattern(main_shape(model.urls))
    frame = siblings_of(pages, None).frame
    chosen = []
    for look, lists in zip(pages, candidates, strict=True):
        near = [each for each in lists if pattern and any(matches(pattern, url) for url in each.urls)]
        listed = [url for each in near[:1] for url in each.urls]
        loose = [url for url in look.links if pattern and matches(pattern, url) and url not in frame]
        other = list(lists[place].urls) if len(lists) > place and not loose else []
        chosen.append(listed or loose or other)
    return chosen


def _rows_of_list(look: PageLook, pattern: str) -> tuple[str, ...]:
    """All rows of the list of a page that has most links of a pattern."""
    found = [(sum(matches(pattern, url) for url in each.urls), each.urls) for each in look.lists]
    number, urls = max(found, default=(0, ()))
    return urls if 2 * number > len(urls) else ()


def _others(pages: Sequence[PageLook], wanted: Sequence[str]) -> list[str]:
    """The links that a pattern must not match. What looks like the wanted ones and stands on one page alone
    is one of them; what stands on all pages is the site's frame.
    """
    known = set(wanted)
    # A list that is too long to be kept whole has more of the same on its page.
    is_cut = len(wanted) >= MAX_URLS
    loosely = link_pattern(main_shape(wanted)) if len(pages) > 1 or is_cut else None
    frame = siblings_of(pages, None).frame
    return [
        url
        for look in pages
        for url in look.links
        if url not in known and (loosely is None or url in frame or not matches(loosely, url))
    ]


def _fit(children: Sequence[PageLook]) -> float:
    """How much of what is wanted the pages behind a list tell."""
    told = [3 * (look.told.subjects == 1) + len(set(look.told.fields) - COMMON) for look in children]
    return sum(told) / len(told) if told else 0.0


def _render(pages: Sequence[PageLook]) -> bool:
    return any(look.rendered for look in pages)


def _samples(
    pages: Sequence[PageLook], failed: Sequence[PageLook], judged: LevelJudgement
) -> tuple[SampleReport, ...]:
    by_url: dict[str, Judgement] = dict(judged.pages)
    good = [
        SampleReport(
            look.asked, look.title or None, by_url[look.asked].reading if look.asked in by_url else None
        )
        for look in pages
    ]
    return (
        *good,
        *(SampleReport(look.asked, trouble=look.trouble or "data in place of a page") for look in failed),
    )


def _words(reading: Reading) -> str:
    return "pages about one thing" if reading is Reading.DETAIL else "lists of links"


def _choice(above: Sequence[Level], kind: PageType, pattern: str | None = None) -> dict[str, object]:
    """A whole configuration to write into the recipe: the levels that are clear, what is chosen for this one,
    and what must be below it. Where a level has no pattern, the rows of its main list are followed.
    """
    order = (PageType.CATEGORY_LINKS, PageType.DETAIL_LINKS, PageType.DETAIL)
    below = [Level(each) for each in order[order.index(kind) + 1 :]]
    found: dict[str, object] = written(Configuration((*above, Level(kind, pattern), *below)))
    return found
