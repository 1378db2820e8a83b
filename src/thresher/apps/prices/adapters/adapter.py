"""What every adapter does: say what a source is asked, ask it one page at a time, and read the answer.

A listing knows nothing of items, and a query says all that its answer depends on. So an answer may be kept
and used for another item that asks the same, and can never be filed under the wrong one.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

import orjson

from thresher.apps.prices.model import Item, Listing, SourceSpec
from thresher.core.context import Context
from thresher.core.page import Page, Verdict


@dataclass(frozen=True, slots=True)
class SourceQuery:
    """What a source is asked: everything of an item that changes the answer, grade and keywords included."""

    source: str
    text: str = ""
    parameters: Mapping[str, str] = field(default_factory=dict)
    urls: tuple[str, ...] = ()

    def key(self, spec: SourceSpec) -> str:
        """A hash of the whole query and of what else decides the answer: the definition and its options."""
        said = [self.source, self.text, dict(self.parameters), self.urls]
        asked = [spec.adapter.value, spec.definition, dict(spec.options)]
        return hashlib.sha256(orjson.dumps([said, asked], option=orjson.OPT_SORT_KEYS)).hexdigest()


@dataclass(frozen=True, slots=True)
class NotAsked:
    """This item cannot be looked for at this source, and why."""

    reason: str


@dataclass(frozen=True, slots=True)
class ListingPage:
    """What one answer shows. `next` is the cursor of the next page, None at the end of the list. Without a
    verdict that proves something, neither the listings nor their absence are believed to be all of it.
    `total` is what the source says there is in all; `notes` are what a person should know: rows that were no
    listings, a list that is cut short. `unseen` are lists of the source of which nothing was asked for yet.
    """

    listings: tuple[Listing, ...]
    verdict: Verdict
    reason: str
    next: str | None = None
    total: int | None = None
    capped: bool = False
    notes: tuple[str, ...] = ()
    unseen: tuple[str, ...] = ()


class SourceAdapter(Protocol):
    """One way to have listings. It keeps nothing but what it was made of: a source's spec."""

    @property
    def spec(self) -> SourceSpec: ...

    def query(self, item: Item) -> SourceQuery | NotAsked:
        """Say what the source is asked for this item."""
        ...

    async def fetch(self, ctx: Context, query: SourceQuery, cursor: str | None) -> Page:
        """Fetch one page of the answer; without a cursor the first. Errors of the source are raised."""
        ...

    async def read(self, ctx: Context, query: SourceQuery, cursor: str | None, page: Page) -> ListingPage:
        """Read one page, in a process that can be killed."""
        ...
