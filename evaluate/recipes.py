"""Learned extractors: three pages of a site teach, the others are read; then the layout changes under the
extractor's feet."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, Self

from evaluate.manifest import HALVES, Entry, entries, half, share
from evaluate.mutations import FALSEHOODS, MUTATIONS, Case, Mutation
from evaluate.score import Score
from thresher.core.schema import Field, Kind, Schema
from thresher.learning.extractor import Example, Extractor
from thresher.learning.learn import learn
from thresher.learning.outline import Outline
from thresher.learning.read import Reading, read
from thresher.learning.wording import squeezed
from thresher.reading.html.document import Document
from thresher.reading.html.parser import Text

TAUGHT = 3
ROTATIONS = 6
# What the labellers wrote down beside the values, and what holds several values at once.
_NOT_FIELDS = frozenset({"url", "trap", "recently_viewed"})
_KINDS = {"price": Kind.MONEY, "date_posted": Kind.DATE, "publication_date": Kind.DATE}
_MANY = frozenset({"author", "cuisine"})


@dataclass(slots=True)
class Tally:
    """Values by what became of them."""

    right: int = 0
    wrong: int = 0
    missed: int = 0
    misses: list[str] = field(default_factory=list)

    def __iadd__(self, other: "Tally") -> Self:
        self.right, self.wrong, self.missed = (
            self.right + other.right,
            self.wrong + other.wrong,
            self.missed + other.missed,
        )
        self.misses += other.misses
        return self

    @property
    def f1(self) -> float:
        """A wrong value is both something false and something missed."""
        return 2 * self.right / (2 * self.right + 2 * self.wrong + self.missed) if self.right else 0.0


@dataclass(frozen=True, slots=True)
class Site:
    name: str
    schema: Schema
    pages: tuple[Entry, ...]

    def example(self, page: Entry) -> Example:
        labels = {each.name: page.truth[each.name] for each in self.schema.fields if each.name in page.truth}
        return Example(Document.of(page.page(page.truth.get("url", ""))), labels)


def sites(corpus: Path) -> list[Site]:
    found: dict[str, list[Entry]] = defaultdict(list)
    for entry in entries(corpus, "recipes/"):
        if "pagination" not in entry.file:
            found[entry.path.parent.name].append(entry)
    return [_site(name, sorted(pages, key=lambda page: page.file)) for name, pages in sorted(found.items())]


def _site(name: str, pages: Sequence[Entry]) -> Site:
    names = dict.fromkeys(
        key for page in pages for key, value in page.truth.items() if isinstance(value, str | list)
    )
    fields = tuple(
        Field(key, _KINDS.get(key, Kind.TEXT), many=key in _MANY) for key in names if key not in _NOT_FIELDS
    )
    return Site(name, Schema(name.replace("-", "_"), fields), tuple(pages))


def judged(site: Site, example: Example, reading: Reading, name: str) -> Tally:
    """Each field whose value is known, compared: any of its wordings is right; of several values, all."""
    tally = Tally()
    for each in site.schema.fields:
        truths = {squeezed(str(truth)) for truth in example.truths(each)}
        said = reading.values.get(each.name)
        if said is None:
            if truths:
                tally.missed += 1
                tally.misses.append(
                    f"{name} {each.name}: {min(truths)[:60]!r} not read ({_why(reading, each.name)})"
                )
        elif _is_right(said, truths):
            tally.right += 1
        elif each.name in example.labels:
            tally.wrong += 1
            tally.misses.append(f"{name} {each.name}: {sorted(truths)!r}, read {said!r}")
    return tally


def _is_right(said: Any, truths: set[str]) -> bool:
    return (
        {squeezed(str(each)) for each in said} == truths
        if isinstance(said, list)
        else squeezed(str(said)) in truths
    )


def _why(reading: Reading, name: str) -> str:
    return next((drift.says for drift in reading.drifts if drift.field == name), "no rule, or silent")


def scores(corpus: Path) -> list[Score]:
    return [*_unseen(corpus), *_other_lessons(corpus), *_changed(corpus)]


def _unseen(corpus: Path) -> Iterator[Score]:
    total, few = Tally(), Tally()
    by_site: dict[str, Tally] = {}
    for site in sites(corpus):
        if len(site.pages) > TAUGHT:
            by_site[site.name] = _taught(site, site.pages[:TAUGHT], site.pages[TAUGHT:])
            total += by_site[site.name]
        else:
            for left in site.pages:
                few += _taught(site, [page for page in site.pages if page is not left], [left])
    for name, tally in by_site.items():
        yield Score(
            "recipes", name, tally.f1, tally.right + tally.wrong + tally.missed, misses=tuple(tally.misses)
        )
    macro = sum(tally.f1 for tally in by_site.values()) / len(by_site) if by_site else 1.0
    yield Score(
        "recipes", "F1 over fields, unseen pages", total.f1, total.right + total.wrong + total.missed, 0.95
    )
    yield Score("recipes", "F1 over sites, unseen pages", macro, len(by_site), 0.95)
    for each in HALVES:
        own = [tally.f1 for name, tally in by_site.items() if half(name) == each]
        yield Score("recipes", f"F1 over sites, unseen pages ({each})", share(sum(own), len(own)), len(own))
    yield Score("recipes", "wrong values, unseen pages", total.wrong, total.right + total.wrong)
    yield Score(
        "recipes",
        "F1, two pages taught, the third read",
        few.f1,
        few.right + few.wrong + few.missed,
        misses=tuple(few.misses),
    )


def _other_lessons(corpus: Path) -> Iterator[Score]:
    """The same with other pages as lessons: which three a person happens to label must not matter."""
    total, halves = Tally(), {each: Tally() for each in HALVES}
    for site in sites(corpus):
        pages = site.pages
        for start in range(1, min(len(pages), ROTATIONS) if len(pages) > TAUGHT else 0):
            turned = (*pages[start:], *pages[:start])
            found = _taught(site, turned[:TAUGHT], turned[TAUGHT:])
            total += found
            halves[half(site.name)] += found
    cases = total.right + total.wrong + total.missed
    yield Score(
        "recipes", "F1 over fields, other pages taught", total.f1, cases, 0.95, misses=tuple(total.misses)
    )
    for name, tally in halves.items():
        known = tally.right + tally.wrong + tally.missed
        yield Score("recipes", f"F1 over fields, other pages taught ({name})", tally.f1, known)
    yield Score("recipes", "wrong values, other pages taught", total.wrong, cases)


def _taught(site: Site, taught: Sequence[Entry], unseen: Sequence[Entry]) -> Tally:
    extractor = learn(site.schema, [site.example(page) for page in taught])
    tally = Tally()
    for page in unseen:
        example = site.example(page)
        reading = read(extractor, example.document) if isinstance(extractor, Extractor) else Reading()
        tally += judged(site, example, reading, page.file)
    return tally


@dataclass(slots=True)
class Changed:
    """Pages after one change of layout. `lost`: a value that was read before is read no more. `noticed`: each
    such has its drift."""

    pages: int = 0
    intact: int = 0
    lost: int = 0
    noticed: int = 0
    wrong: list[str] = field(default_factory=list)
    unnoticed: list[str] = field(default_factory=list)


def _changed(corpus: Path) -> Iterator[Score]:
    """The layout changes of `mutations`, on every page of every site, with the extractor of its first three
    pages."""
    tallies = {mutation.__name__: Changed() for mutation in (*MUTATIONS, *FALSEHOODS)}
    for site in sites(corpus):
        examples = [site.example(page) for page in site.pages]
        extractor = learn(site.schema, examples[:TAUGHT])
        if isinstance(extractor, Extractor):
            for at, page in enumerate(site.pages):
                before = read(extractor, examples[at].document)
                for mutation in (*MUTATIONS, *FALSEHOODS):
                    name = f"{page.file} {mutation.__name__}"
                    after = read(extractor, _mutant(site, examples, at, mutation))
                    _count(tallies[mutation.__name__], site, examples[at], before, after, name)
    for mutation in FALSEHOODS:
        each = tallies.pop(mutation.__name__)
        yield Score(
            "recipes",
            f"{mutation.__name__}: false values told and believed",
            len(each.wrong),
            each.pages,
            misses=tuple(each.wrong),
        )
    yield from _changed_scores(tallies)


def _changed_scores(tallies: Mapping[str, Changed]) -> Iterator[Score]:
    for name, each in tallies.items():
        noticed = share(each.noticed, each.lost)
        yield Score(
            "recipes",
            f"{name}: {each.intact} intact, drift",
            noticed,
            each.lost,
            misses=tuple(each.unnoticed),
        )
    pages, lost = sum(each.pages for each in tallies.values()), sum(each.lost for each in tallies.values())
    wrong = [miss for each in tallies.values() for miss in each.wrong]
    noticed = sum(each.noticed for each in tallies.values())
    yield Score(
        "recipes", "wrong values, changed layout", len(wrong), pages, 0, lower=True, misses=tuple(wrong)
    )
    yield Score("recipes", "drift noticed, changed layout", share(noticed, lost), lost, 0.95)


def _mutant(site: Site, examples: Sequence[Example], at: int, mutation: Mutation) -> Document:
    own, other = examples[at], examples[(at + 1) % len(examples)]
    document, beside = _copy(own), _copy(other)
    chance = Random(f"{site.name} {at} {mutation.__name__}")
    mutation(Case(document, _places(site, own, document), beside, _places(site, other, beside), chance))
    return Document.from_html(document.root.html, own.document.url)


def _copy(example: Example) -> Document:
    return Document.from_html(example.document.html, example.document.url)


def _places(site: Site, example: Example, document: Document) -> dict[str, list[Text]]:
    """The texts of a page that say the value of a field and nothing else."""
    outline = Outline(document)
    keys = {
        each.name: {squeezed(str(truth)) for truth in example.truths(each)} for each in site.schema.fields
    }
    return {
        name: [leaf.node for leaf in outline.leaves if leaf.key in wanted] for name, wanted in keys.items()
    }


def _count(tally: Changed, site: Site, example: Example, before: Reading, after: Reading, name: str) -> None:
    tally.pages += 1
    lost, noticed = [], True
    for each in site.schema.fields:
        truths = {squeezed(str(truth)) for truth in example.truths(each)}
        said, was = after.values.get(each.name), before.values.get(each.name)
        if said is not None and each.name in example.labels and not _is_right(said, truths):
            tally.wrong.append(f"{name} {each.name}: {sorted(truths)}, read {said!r}")
        elif said is None and was is not None:
            lost.append(each.name)
            if each.name not in after.drifting and not any(drift.field is None for drift in after.drifts):
                noticed = False
                tally.unnoticed.append(f"{name} {each.name}: {was!r} is read no more")
    tally.intact += not lost
    tally.lost += bool(lost)
    tally.noticed += bool(lost) and noticed
