"""Reading with an extractor: what its rules say about a page, where that stands, and every sign that the page
has changed.

A page is free to change. An unknown value costs one question; a wrong one is believed. So nothing doubtful is
handed out.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from thresher.core.evidence import Place
from thresher.learning.drift import Drift, Sign
from thresher.learning.extractor import Extractor
from thresher.learning.meaning import as_label, labels
from thresher.learning.outline import Outline
from thresher.learning.rule import in_page
from thresher.learning.table import MAX_ROWS, row_document
from thresher.learning.vote import Vote, VoteResult
from thresher.reading.html.document import Document
from thresher.reading.html.parser import Selector

MAX_LABEL = 80  # characters of a text that may begin with a label


@dataclass(frozen=True, slots=True)
class Reading:
    """`values` holds what is known for certain; a field that is not in it is absent or, with a drift of its
    own, unknown.

    `places` names the values as evidence does: `title`, `skills.2`. `confidence` is between 0 and 1. `unseen`
    are fields that no known page had and that this page seems to have.
    """

    values: Mapping[str, Any] = field(default_factory=dict)
    places: Mapping[str, Place | None] = field(default_factory=dict)
    drifts: tuple[Drift, ...] = ()
    confidence: Mapping[str, float] = field(default_factory=dict)
    unseen: tuple[str, ...] = ()

    @property
    def drifting(self) -> frozenset[str]:
        return frozenset(drift.field for drift in self.drifts if drift.field)


def read(extractor: Extractor, document: Document) -> Reading:
    """The values of a page by the rules of an extractor; of a page of several things, under `items`."""
    if extractor.row is not None:
        return _read_table(extractor, extractor.row, document)
    outline = Outline(document)
    hearing = Vote(extractor, outline)
    found = {
        each.name: hearing.field(each, extractor.fields[each.name])
        for each in extractor.schema.fields
        if each.name in extractor.fields
    }
    drifts = [*hearing.drifts(), *(each for each in found.values() if isinstance(each, Drift))]
    if 2 * hearing.unheard >= hearing.echoed > 0 < hearing.unheard:
        # What stands in the body may all belong to another thing.
        drifts.append(
            Drift(Sign.OTHER_THING, None, "the body of the page is about something else than its head")
        )
        return Reading(drifts=tuple(drifts))
    known: dict[str, VoteResult] = {}
    for name, each in found.items():
        if isinstance(each, VoteResult):
            crossed = hearing.crossed(extractor.schema[name], extractor.fields[name], each)
            if crossed is None:
                known[name] = each
            else:
                drifts.append(crossed)
    return Reading(
        values={name: each.value for name, each in known.items()},
        places={name: place for each in known.values() for name, place in each.places.items()},
        drifts=tuple(drifts),
        confidence={name: each.confidence for name, each in known.items()},
        unseen=_unseen(extractor, outline),
    )


def _unseen(extractor: Extractor, outline: Outline) -> tuple[str, ...]:
    """The fields without a rule whose label stands here and not on every known page. Those pages lacked them,
    so nothing was learned of them and nobody would miss them.
    """
    wanted = [
        each for each in extractor.schema.fields if each.name not in extractor.fields and not each.judged
    ]
    if not wanted:
        return ()
    usual = {*extractor.skeleton.once, *extractor.skeleton.often}
    said = {as_label(key[:MAX_LABEL].partition(":")[0]) for key in outline.keys if key not in usual}
    return tuple(each.name for each in wanted if not said.isdisjoint(labels(each)))


def _read_table(extractor: Extractor, row: Selector, document: Document) -> Reading:
    nodes = document.root.select_by(row)[:MAX_ROWS]
    outline = Outline(document)
    inner = replace(extractor, row=None)
    items: list[Mapping[str, Any]] = []
    places: dict[str, Place | None] = {}
    signs: Counter[tuple[Sign, str | None]] = Counter()
    for node in nodes:
        found = read(inner, row_document(document, node))
        signs.update({(drift.sign, drift.field) for drift in found.drifts})
        if found.values and all(
            each.name in found.values for each in extractor.schema.fields if each.required
        ):
            places |= {
                f"{len(items)}.{name}": in_page(outline, node, place) for name, place in found.places.items()
            }
            items.append(found.values)
    drifts = [
        Drift(sign, name, f"{name or 'the row'}: {sign} in {times} of {len(nodes)} rows")
        for (sign, name), times in signs.items()
    ]
    if not items:
        drifts.append(
            Drift(
                Sign.MISSING,
                None,
                f"{len(nodes)} rows were found, all of them empty, unlike on known pages",
            )
        )
    return Reading({"items": items}, places, tuple(drifts))
