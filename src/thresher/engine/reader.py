"""Read a page into a schema at the lowest cost: by a learned extractor, by the page's own data, last by a
model.

What a model or the page's data said becomes an example. A few examples become an extractor, and from then on
the site costs nothing. A page on which the extractor is in doubt goes to the model, and its answers teach the
next version; without a model, doubtful values are left out and reported.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Protocol, TypeVar

import orjson

from thresher.core.answer import By, Extract, ModelAnswer
from thresher.core.compute import Compute, compute_in_thread
from thresher.core.errors import TooLarge, TooSlow, UsageError
from thresher.core.evidence import Evidence, Material
from thresher.core.keys import parse
from thresher.core.page import Page
from thresher.core.schema import Schema
from thresher.evidence.verify import verify
from thresher.learning.drift import Coverage, falling
from thresher.learning.extractor import Example, Extractor, LearningRefusal
from thresher.learning.learn import learn, relearn
from thresher.learning.read import Reading, read
from thresher.learning.record import from_json, to_json
from thresher.learning.rows import rows
from thresher.learning.structure import from_structure
from thresher.reading.html.document import Document
from thresher.reading.structured.facts import structured
from thresher.reading.text.markdown import full_markdown
from thresher.reading.text.plain import full_text
from thresher.store import blobs, extractors
from thresher.store.extractors import Labelled, Labeller, Learned
from thresher.store.store import Store

# Learn an extractor when a site has enough examples.
#
# Learning costs a second of a processor, so it is tried when the number of examples has grown by half, not
# with every page.

MIN_EXAMPLES = 3
LEARN_SECONDS = 60.0
MAX_EXAMPLES = 12
_TRIED_AT = frozenset({MIN_EXAMPLES, 4, 6, 9, MAX_EXAMPLES})


class Lessons:
    """What is known of one site for one schema, and the extractor that comes of it."""

    def __init__(self, store: Store, site: str, schema: Schema, compute: Compute = compute_in_thread) -> None:
        self._store, self._site, self._schema, self._compute = store, site, schema, compute

    def active(self) -> Learned | None:
        """The extractor in use, unless it was learned for a schema that has changed since. One that cannot be
        read is used no more.
        """
        found = extractors.active(self._store, self._site, self._schema.name)
        if found is None or found.schema_digest != self._schema.digest:
            return None
        if not _is_readable(found):
            extractors.doubt(
                self._store,
                found.id,
                "the stored extractor cannot be read, or contains something that is never learned",
            )
            return None
        return found

    def note(self, learned: Learned, drift: str | None) -> None:
        """Count a page. An extractor that fails too often is no longer used: the site has changed in an
        unknown way.
        """
        extractors.note(self._store, learned.id, good=drift is None, drift=drift)
        if drift is not None:
            pages = Coverage(learned.good + learned.drifted + 1, learned.good, learned.drifted + 1)
            if why := falling(1.0, pages):
                extractors.doubt(self._store, learned.id, why)

    async def add(self, document: Document, labels: Mapping[str, Any], by: Labeller) -> None:
        """Remember what stands on a page, and learn where there is enough to learn from.

        A dozen pages that could not be learned are not helped by a thousand more: then only a person's word
        is still taken.
        """
        _, fresh, _ = await self._store.run(self._given)
        full = len(fresh) >= MAX_EXAMPLES and by != "person"
        if full or not labels or not await self._store.run(self._add, document, labels, by):
            return
        given, fresh, last = await self._store.run(self._given)
        if len(fresh) not in _TRIED_AT:
            return
        new = await self._store.run(self._examples, fresh)
        old = await self._store.run(self._examples, [each for each in given if each not in fresh])
        known = (
            last
            if last is not None and last.schema_digest == self._schema.digest and _is_readable(last)
            else None
        )
        found = await self._learned(new, old, known)
        if isinstance(found, Extractor):
            await self._store.run(self._save, found, last)
        else:
            await self._store.run(extractors.refuse, self._store, self._site, self._schema.name, found.reason)

    async def has_room(self) -> bool:
        """Whether another answer of a model would still be taken."""
        _, fresh, _ = await self._store.run(self._given)
        return len(fresh) < MAX_EXAMPLES

    def _add(self, document: Document, labels: Mapping[str, Any], by: Labeller) -> bool:
        page = blobs.pack(document.html.encode("utf-8", "replace"))
        return extractors.add_example(
            self._store,
            site=self._site,
            schema_name=self._schema.name,
            schema_digest=self._schema.digest,
            page=page,
            labels=labels,
            by=by,
            url=document.url,
        )

    def _given(self) -> tuple[list[Labelled], list[Labelled], Learned | None]:
        """The examples, those of them that came after the newest extractor, and that extractor."""
        found = extractors.examples(
            self._store, self._site, self._schema.name, self._schema.digest, MAX_EXAMPLES
        )
        last = extractors.last(self._store, self._site, self._schema.name)
        return found, [each for each in found if last is None or each.at > last.made_at], last

    def _examples(self, given: Sequence[Labelled]) -> list[Example]:
        pages = [(each, blobs.get(self._store, each.page).decode()) for each in given]
        return [Example(Document.from_html(html, each.url or ""), each.labels) for each, html in pages]

    async def _learned(
        self, new: Sequence[Example], old: Sequence[Example], last: Learned | None
    ) -> Extractor | LearningRefusal:
        try:
            found = await self._compute(
                learn_site, self._schema, new, old, last and last.body, seconds=LEARN_SECONDS
            )
        except (TooLarge, TooSlow) as problem:
            return LearningRefusal(str(problem))
        return found if isinstance(found, LearningRefusal) else self._whole(found, new)

    def _whole(self, found: Extractor, new: Sequence[Example]) -> Extractor | LearningRefusal:
        """Half an extractor would lose, page by page and unseen, what a model has read before."""
        known = {
            name
            for example in new
            for thing in example.labels.get("items", [example.labels])
            for name, value in thing.items()
            if value not in (None, [], "")
        }
        lost = {name: why for name, why in found.unlearned.items() if name in known}
        if not lost:
            return found
        return LearningRefusal(f"{', '.join(lost)} could not be learned: {next(iter(lost.values()))}", lost)

    def _save(self, found: Extractor, last: Learned | None) -> None:
        base = last.version if last else 0
        body = orjson.dumps(to_json(replace(found, site=self._site, version=base + 1))).decode()
        extractors.save(
            self._store,
            site=self._site,
            schema_name=self._schema.name,
            schema_digest=self._schema.digest,
            body=body,
            score=found.score,
            base=base or None,
        )


def learn_site(
    schema: Schema, new: Sequence[Example], old: Sequence[Example], last: str | None
) -> Extractor | LearningRefusal:
    """An extractor from examples: the first of a site, or the next after `last`, as that was stored."""
    return learn(schema, [*new, *old]) if last is None else relearn(extractor_in(last), schema, new, old)


def extractor_of(learned: Learned) -> Extractor:
    """As it was stored."""
    return extractor_in(learned.body)


def _is_readable(learned: Learned) -> bool:
    try:
        extractor_of(learned)
    except UsageError:
        return False
    return True


@lru_cache(64)
def extractor_in(body: str) -> Extractor:
    """An extractor out of its stored text."""
    return from_json(orjson.loads(body))


def taught(schema: Schema, value: Any, evidence: Evidence) -> dict[str, Any]:
    """What of an answer may be taught: the values that stand in the page, and nothing else. Empty where there
    are none.
    """
    if not schema.many:
        return _verified(schema, value, evidence)
    things = [_verified(schema, thing, evidence, f"{at}.") for at, thing in enumerate(schema.things(value))]
    return {"items": things} if any(things) else {}


def _verified(
    schema: Schema, thing: Mapping[str, Any], evidence: Evidence, before: str = ""
) -> dict[str, Any]:
    """The values that stand in the page, a list only if all of it does; and None for what the page was said
    not to have, so that a field which some pages lack is not taken for a changed layout.
    """
    wanted = [field for field in schema.fields if not field.judged]
    lacking = {
        field.name: None for field in wanted if not field.required and thing.get(field.name) in (None, [], "")
    }
    found = {
        field.name: thing[field.name]
        for field in wanted
        if thing.get(field.name) not in (None, [], "")
        and all(evidence.verified(before + name) for name in _names(field.name, thing[field.name]))
    }
    return {**lacking, **found} if found else {}


def _names(name: str, value: Any) -> list[str]:
    return [f"{name}.{at}" for at in range(len(value))] if isinstance(value, list) else [name]


PROMPT = "extract"
T = TypeVar("T")


class ReaderContext(Protocol):
    """What the reader borrows of the stage it reads for."""

    async def save(self, body: bytes) -> str: ...
    async def ask(
        self,
        task_name: str,
        schema: Schema,
        inputs: Mapping[str, Any],
        *,
        tier: str | None = None,
        budget: float | None = None,
    ) -> ModelAnswer: ...
    async def can_ask(self, tier: str = "cheap") -> bool: ...
    async def compute(
        self, function: Callable[..., T], /, *args: object, seconds: float | None = None
    ) -> T: ...


@dataclass(frozen=True, slots=True)
class _Found:
    """What was read without a model. The places of its evidence count in `text`. `unseen` are fields that the
    page seems to have and that no known page had.
    """

    value: Mapping[str, Any]
    evidence: Evidence
    by: By
    doubts: tuple[str, ...] = ()
    text: str = ""
    unseen: tuple[str, ...] = ()

    @property
    def told(self) -> tuple[str, ...]:
        """Its doubts, and what it may lack."""
        return (
            *self.doubts,
            *(f"the page seems to tell {name}, and no known page did" for name in self.unseen),
        )


class Reader:
    """Reads pages for one stage. The pages themselves are only ever opened in another process."""

    def __init__(self, store: Store, hand: ReaderContext) -> None:
        self._store, self._hand = store, hand

    async def extract(
        self,
        page: Page,
        schema: Schema,
        *,
        site: str | None = None,
        tier: str | None = None,
        budget: float | None = None,
    ) -> Extract:
        lessons = Lessons(self._store, site or parse(page.final_url).hostname, schema, self._hand.compute)
        learned = await self._by_lessons(page, schema, lessons)
        can_ask = await self._hand.can_ask(tier or "cheap")
        more = bool(learned and learned.unseen) and can_ask and await lessons.has_room()
        if learned and not learned.doubts and not more:
            return Extract(learned.value, learned.evidence, By.LEARNED, learned.told)
        declared = await self._kept(await self._hand.compute(read_data, schema, page))
        if declared and not declared.doubts:
            if learned is None:  # else the site is known, and every further page would only be kept
                await self._teach(lessons, page, declared.value, "data")
            return Extract(declared.value, declared.evidence, By.DATA)
        if not can_ask and (best := learned or declared):
            return Extract(best.value, best.evidence, best.by, best.told)
        return await self._by_model(page, schema, lessons, tier, budget)

    async def learn(
        self, pages: Sequence[Page], schema: Schema, *, site: str | None = None
    ) -> tuple[str, ...]:
        """Learn from pages that label themselves; return the fields that are read from now on."""
        if not pages or schema.many:
            return ()
        lessons = Lessons(self._store, site or parse(pages[0].final_url).hostname, schema, self._hand.compute)
        if await self._store.run(lessons.active) is None:
            for page, labels in zip(
                pages, await self._hand.compute(labels_of, schema, list(pages)), strict=True
            ):
                await self._teach(lessons, page, labels, "data")
        known = await self._store.run(lessons.active)
        return tuple(sorted(extractor_of(known).fields)) if known is not None else ()

    async def _by_lessons(self, page: Page, schema: Schema, lessons: Lessons) -> _Found | None:
        known = await self._store.run(lessons.active)
        if known is None:
            return None
        found = await self._hand.compute(read_learned, known.body, schema, page)
        await self._store.run(lessons.note, known, found.doubts[0] if found.doubts else None)
        return await self._kept(found)

    async def _kept(self, found: _Found | None) -> _Found | None:
        """The same, with its text stored, so that its places can be looked up."""
        if found is None:
            return None
        source = await self._hand.save(found.text.encode())
        return replace(found, evidence=replace(found.evidence, source=source), text="")

    async def _by_model(
        self, page: Page, schema: Schema, lessons: Lessons, tier: str | None, budget: float | None
    ) -> Extract:
        text = await self._hand.compute(markdown_of, page)
        material = Material(text, None, await self._hand.save(text.encode()), page.final_url)
        answer = await self._hand.ask(PROMPT, schema, {"page": material}, tier=tier, budget=budget)
        await self._teach(lessons, page, taught(schema, answer.value, answer.evidence), "model")
        unsure = tuple(f"{name} is not found in the page" for name in answer.evidence.unverified())
        return Extract(answer.value, answer.evidence, By.MODEL, unsure, 0 if answer.cached else answer.cost)

    async def _teach(self, lessons: Lessons, page: Page, labels: Mapping[str, Any], by: Labeller) -> None:
        if labels:
            html = await self._hand.compute(html_of, page)
            await lessons.add(Document(html, page.final_url), labels, by)


# --- in another process


def read_learned(extractor: str, schema: Schema, page: Page) -> _Found:
    """What an extractor, as it was stored, reads on a page."""
    document = Document.of(page)
    reading = read(extractor_in(extractor), document)
    return _Found(
        reading.values,
        Evidence(reading.places),
        By.LEARNED,
        _doubts(schema, reading),
        full_text(document),
        reading.unseen,
    )


def read_data(schema: Schema, page: Page) -> _Found | None:
    """What the page says without anybody having read it: in its data, or in rows that look alike."""
    document = Document.of(page)
    value, doubts = (_rows if schema.many else _declared)(schema, document)
    if not value:
        return None
    text = full_markdown(document)
    data = [thing.properties for thing in structured(document).things]
    return _Found(
        value, verify(schema, value, Material(text, data, None, document.url)), By.DATA, doubts, text
    )


def declared_extract(schema: Schema, page: Page) -> Extract:
    """The same as an answer of its own; empty where the page says nothing."""
    found = read_data(schema, page)
    if found is None:
        return Extract({}, Evidence({}), By.DATA, ("the page declares nothing that was asked for",))
    return Extract(found.value, found.evidence, found.by, found.doubts)


def labels_of(schema: Schema, pages: Sequence[Page]) -> list[dict[str, Any]]:
    """What each of several pages of one site says of itself; empty for one that says nothing."""
    documents = [Document.of(page) for page in pages]
    told = {id(each.document): dict(each.labels) for each in from_structure(schema, documents)}
    return [told.get(id(document), {}) for document in documents]


def markdown_of(page: Page) -> str:
    """The whole text of a page, as a model is shown it."""
    return full_markdown(Document.of(page))


def html_of(page: Page) -> str:
    """The markup of a page in characters."""
    return Document.of(page).html


def _declared(schema: Schema, document: Document) -> tuple[dict[str, Any], tuple[str, ...]]:
    """What a page declares of itself. It must be all that is wanted: a half of it would be taken for the
    whole.
    """
    found = next(iter(from_structure(schema, [document])), None)
    if found is None:
        return {}, ()
    wanted = {field.name: found.labels.get(field.name) for field in schema.fields}
    missing = (
        f"the page declares no {name}"
        for name, value in wanted.items()
        if value is None and not schema[name].judged
    )
    return wanted, (*schema.complaints(wanted), *missing)


def _rows(schema: Schema, document: Document) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the largest group of similar things. Similarity alone is never certain: recommendations look
    alike, too.
    """
    things = rows(schema, document)
    value = {"items": [{field.name: thing.get(field.name) for field in schema.fields} for thing in things]}
    return (value, ("told by their likeness alone", *schema.complaints(value))) if things else ({}, ())


def _doubts(schema: Schema, reading: Reading) -> tuple[str, ...]:
    return (*(drift.says for drift in reading.drifts), *schema.complaints(dict(reading.values)))
