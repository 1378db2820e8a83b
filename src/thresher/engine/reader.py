"""Reading a page into a schema at the least cost: by what was learned of its site, by its own data, and last
by a model.

What a model or the page's data said becomes an example. A few examples become an extractor, and from then on
the site is read for nothing. A page on which the extractor is in doubt goes back to the model, and its
answers teach the next version; where there is no model, what is in doubt is left out and said.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar

from thresher.core.answer import Answer
from thresher.core.evidence import Evidence, Material
from thresher.core.extract import By, Extract
from thresher.core.host import parse
from thresher.core.page import Page
from thresher.core.schema import Schema
from thresher.engine.lessons import Lessons, extractor_in, taught
from thresher.evidence.verify import verify
from thresher.learning.read import Reading, read
from thresher.learning.rows import rows
from thresher.learning.structure import from_structure
from thresher.reading.document import Document
from thresher.reading.markdown import full_markdown
from thresher.reading.structured import structured
from thresher.reading.text import full_text
from thresher.store.examples import Labeller
from thresher.store.store import Store

PROMPT = "extract"
T = TypeVar("T")


class Hand(Protocol):
    """What the reader borrows of the stage it reads for."""

    async def save(self, body: bytes) -> str: ...
    async def ask(
        self, task_name: str, schema: Schema, inputs: Mapping[str, Any], *, tier: str | None = None
    ) -> Answer: ...
    async def can_ask(self, tier: str = "cheap") -> bool: ...
    async def compute(
        self, function: Callable[..., T], /, *args: object, seconds: float | None = None
    ) -> T: ...


@dataclass(frozen=True, slots=True)
class _Found:
    """What was read without a model. The places of its evidence count in `text`."""

    value: Mapping[str, Any]
    evidence: Evidence
    by: By
    doubts: tuple[str, ...] = ()
    text: str = ""


class Reader:
    """Reads pages for one stage. The pages themselves are only ever opened in another process."""

    def __init__(self, store: Store, hand: Hand) -> None:
        self._store, self._hand = store, hand

    async def extract(
        self, page: Page, schema: Schema, *, site: str | None = None, tier: str | None = None
    ) -> Extract:
        lessons = Lessons(self._store, site or parse(page.final_url).hostname, schema, self._hand.compute)
        learned = await self._by_lessons(page, schema, lessons)
        if learned and not learned.doubts:
            return Extract(learned.value, learned.evidence, By.LEARNED)
        declared = await self._kept(await self._hand.compute(read_data, schema, page))
        if declared and not declared.doubts:
            if learned is None:  # else the site is known, and every further page would only be kept
                await self._teach(lessons, page, declared.value, "data")
            return Extract(declared.value, declared.evidence, By.DATA)
        if not await self._hand.can_ask(tier or "cheap") and (best := learned or declared):
            return Extract(best.value, best.evidence, best.by, best.doubts)
        return await self._by_model(page, schema, lessons, tier)

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

    async def _by_model(self, page: Page, schema: Schema, lessons: Lessons, tier: str | None) -> Extract:
        text = await self._hand.compute(markdown_of, page)
        material = Material(text, None, await self._hand.save(text.encode()), page.final_url)
        answer = await self._hand.ask(PROMPT, schema, {"page": material}, tier=tier)
        await self._teach(lessons, page, taught(schema, answer.value, answer.evidence), "model")
        unsure = tuple(f"{name} stands nowhere in the page" for name in answer.evidence.unverified())
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
        reading.values, Evidence(reading.places), By.LEARNED, _doubts(schema, reading), full_text(document)
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
    """The largest group of things that look alike. Likeness alone is never certain: recommended things look
    alike, too.
    """
    things = rows(schema, document)
    value = {"items": [{field.name: thing.get(field.name) for field in schema.fields} for thing in things]}
    return (value, ("told by their likeness alone", *schema.complaints(value))) if things else ({}, ())


def _doubts(schema: Schema, reading: Reading) -> tuple[str, ...]:
    return (*(drift.says for drift in reading.drifts), *schema.complaints(dict(reading.values)))
