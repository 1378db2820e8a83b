"""Lessons: from what was said about the pages of a site to an extractor for it, when there is enough of it.

Learning costs a second of a processor, so it is tried when the number of examples has grown by half, not with
every page.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import orjson

from thresher.core.compute import Compute, compute_in_thread
from thresher.core.errors import TooLarge, TooSlow, UsageError
from thresher.core.evidence import Evidence
from thresher.core.schema import Schema
from thresher.learning.drift import Coverage, falling
from thresher.learning.example import Example
from thresher.learning.extractor import Extractor, Refusal
from thresher.learning.learn import learn
from thresher.learning.record import from_json, to_json
from thresher.learning.relearn import relearn
from thresher.reading.document import Document
from thresher.store import blobs, examples, extractors
from thresher.store.examples import Labelled, Labeller
from thresher.store.extractors import Learned
from thresher.store.store import Store

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
                self._store, found.id, "the stored extractor cannot be read, or holds what is never learned"
            )
            return None
        return found

    def note(self, learned: Learned, drift: str | None) -> None:
        """Count a page. One that fails too often is used no more: the site has changed, and nobody could say
        how.
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

    def _add(self, document: Document, labels: Mapping[str, Any], by: Labeller) -> bool:
        page = blobs.pack(document.html.encode("utf-8", "replace"))
        return examples.add_example(
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
        found = examples.examples(
            self._store, self._site, self._schema.name, self._schema.digest, MAX_EXAMPLES
        )
        last = extractors.last(self._store, self._site, self._schema.name)
        return found, [each for each in found if last is None or each.at > last.made_at], last

    def _examples(self, given: Sequence[Labelled]) -> list[Example]:
        pages = [(each, blobs.get(self._store, each.page).decode()) for each in given]
        return [Example(Document.from_html(html, each.url or ""), each.labels) for each, html in pages]

    async def _learned(
        self, new: Sequence[Example], old: Sequence[Example], last: Learned | None
    ) -> Extractor | Refusal:
        try:
            found = await self._compute(
                learn_site, self._schema, new, old, last and last.body, seconds=LEARN_SECONDS
            )
        except (TooLarge, TooSlow) as problem:
            return Refusal(str(problem))
        return found if isinstance(found, Refusal) else self._whole(found, new)

    def _whole(self, found: Extractor, new: Sequence[Example]) -> Extractor | Refusal:
        """Half an extractor would lose, page by page and unseen, what a model has read before."""
        known = {
            name
            for example in new
            for thing in example.labels.get("items", [example.labels])
            for name in thing
        }
        lost = {name: why for name, why in found.unlearned.items() if name in known}
        if not lost:
            return found
        return Refusal(f"{', '.join(lost)} could not be learned: {next(iter(lost.values()))}", lost)

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
) -> Extractor | Refusal:
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
    """A list counts if all of it stands there."""
    return {
        field.name: thing[field.name]
        for field in schema.fields
        if not field.judged
        and thing.get(field.name) not in (None, [], "")
        and all(evidence.verified(before + name) for name in _names(field.name, thing[field.name]))
    }


def _names(name: str, value: Any) -> list[str]:
    return [f"{name}.{at}" for at in range(len(value))] if isinstance(value, list) else [name]
