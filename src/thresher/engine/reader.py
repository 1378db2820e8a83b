"""Reading a page into a schema at the least cost: by what was learned of its site, by its own data, and last by a model.

What a model or the page's data said becomes an example. A few examples become an extractor, and from then on the site is read
for nothing. A page on which the extractor is in doubt goes back to the model, and its answers teach the next version; where
there is no model, what is in doubt is left out and said.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from thresher.core.answer import Answer
from thresher.core.evidence import Evidence, Material
from thresher.core.extract import By, Extract
from thresher.core.host import parse
from thresher.core.page import Page
from thresher.core.schema import Schema
from thresher.core.threads import in_thread
from thresher.engine.lessons import Lessons, extractor_of, taught
from thresher.evidence.verify import verify
from thresher.learning.read import Reading, read
from thresher.learning.rows import rows
from thresher.learning.structure import from_structure
from thresher.reading.document import Document
from thresher.reading.markdown import full_markdown
from thresher.reading.structured import structured
from thresher.reading.text import full_text
from thresher.store.store import Store

PROMPT = "extract"


class Hand(Protocol):
    """What the reader borrows of the stage it reads for."""

    async def save(self, body: bytes) -> str: ...
    async def ask(self, task_name: str, schema: Schema, inputs: Mapping[str, Any], *, tier: str | None = None) -> Answer: ...
    async def can_ask(self, tier: str = "cheap") -> bool: ...


@dataclass(frozen=True, slots=True)
class _Found:
    """What was read without a model."""

    value: Mapping[str, Any]
    evidence: Evidence
    by: By
    doubts: tuple[str, ...] = ()


class Reader:
    """Reads pages for one stage."""

    def __init__(self, store: Store, hand: Hand) -> None:
        self._store, self._hand = store, hand

    async def extract(self, page: Page, schema: Schema, *, site: str | None = None, tier: str | None = None) -> Extract:
        document = Document.of(page)
        lessons = Lessons(self._store, site or parse(page.final_url).hostname, schema)
        learned = await self._by_lessons(document, schema, lessons)
        if learned and not learned.doubts:
            return Extract(learned.value, learned.evidence, By.LEARNED)
        declared = await self._by_data(document, schema)
        if declared and not declared.doubts:
            if learned is None:  # else the site is known, and every further page would only be kept
                await lessons.add(document, declared.value, "data")
            return Extract(declared.value, declared.evidence, By.DATA)
        if not await self._hand.can_ask(tier or "cheap") and (best := learned or declared):
            return Extract(best.value, best.evidence, best.by, best.doubts)
        return await self._by_model(document, schema, lessons, tier)

    async def _by_lessons(self, document: Document, schema: Schema, lessons: Lessons) -> _Found | None:
        known = await self._store.run(lessons.active)
        if known is None:
            return None
        reading = await in_thread(read, extractor_of(known), document)
        doubts = _doubts(schema, reading)
        await self._store.run(lessons.note, known, doubts[0] if doubts else None)
        source = await self._hand.save(full_text(document).encode())
        return _Found(reading.values, Evidence(reading.places, source), By.LEARNED, doubts)

    async def _by_data(self, document: Document, schema: Schema) -> _Found | None:
        """What the page says without anybody having read it: in its data, or in rows that look alike."""
        value, doubts = await in_thread(_rows if schema.many else _declared, schema, document)
        if not value:
            return None
        text = full_markdown(document)
        data = [thing.properties for thing in structured(document).things]
        material = Material(text, data, await self._hand.save(text.encode()), document.url)
        evidence = await in_thread(verify, schema, value, material)
        return _Found(value, evidence, By.DATA, doubts)

    async def _by_model(self, document: Document, schema: Schema, lessons: Lessons, tier: str | None) -> Extract:
        text = full_markdown(document)
        material = Material(text, None, await self._hand.save(text.encode()), document.url)
        answer = await self._hand.ask(PROMPT, schema, {"page": material}, tier=tier)
        await lessons.add(document, taught(schema, answer.value, answer.evidence), "model")
        unsure = tuple(f"{name} stands nowhere in the page" for name in answer.evidence.unverified())
        return Extract(answer.value, answer.evidence, By.MODEL, unsure, 0 if answer.cached else answer.cost)


def _declared(schema: Schema, document: Document) -> tuple[dict[str, Any], tuple[str, ...]]:
    """What a page declares of itself. It must be all that is wanted: a half of it would be taken for the whole."""
    found = next(iter(from_structure(schema, [document])), None)
    if found is None:
        return {}, ()
    wanted = {field.name: found.labels.get(field.name) for field in schema.fields}
    missing = (f"the page declares no {name}" for name, value in wanted.items() if value is None and not schema[name].judged)
    return wanted, (*schema.complaints(wanted), *missing)


def _rows(schema: Schema, document: Document) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The largest group of things that look alike. Likeness alone is never certain: recommended things look alike, too."""
    things = rows(schema, document)
    value = {"items": [{field.name: thing.get(field.name) for field in schema.fields} for thing in things]}
    return (value, ("told by their likeness alone", *schema.complaints(value))) if things else ({}, ())


def _doubts(schema: Schema, reading: Reading) -> tuple[str, ...]:
    return (*(drift.says for drift in reading.drifts), *schema.complaints(dict(reading.values)))
