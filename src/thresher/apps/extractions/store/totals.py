"""What the end of an extraction is judged by: root, steps and data set; and why one does not move."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from thresher.apps.extractions.model import (
    Entity,
    Extraction,
    ExtractionPage,
    PageStatus,
    PageType,
    page_name,
)
from thresher.apps.extractions.store import datasets, extractions
from thresher.apps.extractions.store.extractions import StepFigures
from thresher.apps.extractions.store.pages import find_page, lists_astray
from thresher.store.session import Session, one

Coverage = Mapping[str, Mapping[str, int]]

# A field that most items had, and that is missing from more than half of those, is lost; and so are the items
# where less than half of them are there.
COMMON, LOST = 0.5, 0.5
_WAITS = """select g.name, g.closed_reason, count(*) from tasks t join lanes l on l.id = t.lane_id
    left join gates g on g.id = l.parked_on where t.group_id = :group and t.finished_at is null
    group by g.name, g.closed_reason order by count(*) desc limit 1"""
_LAST_ERROR = """select t.reason from tasks t where t.group_id = :group and t.finished_at is null and t.reason is not null
    order by t.id limit 1"""
# What was cut short says nothing about how much there should be.
_LAST_SET = """select d.id from datasets d join extractions e on e.id = d.extraction_id where d.recipe_id = :recipe
    and d.extraction_id < :extraction and d.ended_at > 0 and e.status = 'COMPLETE' order by d.id desc limit 1"""


@dataclass(frozen=True, slots=True)
class Drift:
    """What a data set has lost since the one before: fields that far fewer items have, or most items.
    `before` is how many there were, where there are far fewer now.
    """

    fields: tuple[str, ...]
    items: int
    before: int | None = None

    @property
    def says(self) -> str:
        said = [f"{self.items:,} items, and {self.before:,} last time"] if self.before is not None else []
        said += [f"far fewer items than last time have {', '.join(self.fields)}"] if self.fields else []
        return "; ".join(said)


@dataclass(frozen=True, slots=True)
class Totals:
    """An extraction as its last task finds it. `cost` is in millionths of a dollar; `drift` is what it has
    lost since the one before; `api_note` is what an API leaves to be said. `astray` counts the lists that
    lead nowhere and do not say that they are empty; the first of them is `first_astray`.
    """

    extraction: Extraction
    root: PageStatus
    root_failure: str | None = None
    steps: tuple[StepFigures, ...] = ()
    items: int = 0
    unverified: int = 0
    cost: int = 0
    coverage: Coverage = field(default_factory=dict)
    drift: Drift | None = None
    api_note: str | None = None
    astray: int = 0
    first_astray: ExtractionPage | None = None

    @property
    def waiting(self) -> int:
        """Pages that nobody has fetched."""
        return sum(step.waiting for step in self.steps)

    @property
    def unread(self) -> int:
        """Pages with data that were fetched, and that nobody has read."""
        return sum(step.unread for step in self.steps)

    @property
    def nothing_read(self) -> bool:
        """Whether not one page with data was read."""
        return not any(
            step.extractions_succeeded for step in self.steps if PageType(step.page_type).holds_data
        )

    @property
    def failed(self) -> int:
        return sum(step.failed + step.extractions_failed for step in self.steps)


def read_totals(session: Session, data: Mapping[str, Any], now: int) -> Totals | None:  # noqa: ARG001  every read is given the time
    """Read: everything that the end of an extraction depends on."""
    extraction = extractions.find_extraction(session, data["extraction"])
    if extraction is None:
        return None
    dataset = one_dataset(session, extraction.id, int(data["version"]))
    root = find_page(session, extraction.id, page_name(extraction.url))
    coverage = datasets.read_coverage(session, dataset.id) if dataset else {}
    astray, first = lists_astray(session, extraction.id)
    return Totals(
        extraction,
        root.status if root else PageStatus.ERROR,
        (root.failure or {}).get("message") if root else "its task was refused",
        tuple(extractions.read_figures(session, extraction.id)),
        dataset.items if dataset else 0,
        dataset.unverified if dataset else 0,
        extractions.spent(session, extraction.id),
        coverage,
        drift_of(session, extraction, coverage, dataset.items if dataset else 0),
        root.note if root and extraction.configuration.is_api else None,
        astray,
        first,
    )


def one_dataset(session: Session, extraction_id: int, version: int) -> datasets.DataSet | None:
    """The data set of an extraction in one version."""
    found = datasets.datasets_of(session, extraction_id)
    return next((each for each in found if each.version == version), None)


def drift_of(session: Session, extraction: Extraction, coverage: Coverage, items: int) -> Drift | None:
    """What a data set has lost since the last whole one of its recipe. What a limit left out is not lost."""
    row = one(session, _LAST_SET, {"recipe": extraction.recipe_id, "extraction": extraction.id})
    if row is None:
        return None
    before = datasets.get_dataset(session, row[0])
    same = before.entity.name == extraction.entity.name and not extraction.dropped
    fewer = same and items < before.items * LOST
    fields = lost_fields((before.coverage, before.items), coverage, items, extraction.entity)
    return Drift(fields, items, before.items if fewer else None) if fewer or fields else None


def lost_fields(before: tuple[Coverage, int], now: Coverage, items: int, entity: Entity) -> tuple[str, ...]:
    """The fields that most items had, and that most of those now lack. What nobody wants any more is not
    lost.
    """
    was, number = before
    wanted = {field.name for field in entity.schema.fields}
    if not number or not items:
        return ()
    shares = {name: counted["items"] / number for name, counted in was.items()}
    return tuple(
        name
        for name, share in sorted(shares.items())
        if name in wanted and share >= COMMON and now.get(name, {}).get("items", 0) / items < share * LOST
    )


def stuck(session: Session, data: Mapping[str, Any], now: int) -> list[tuple[Extraction, str]]:  # noqa: ARG001
    """Read: extractions under way in which nothing has moved since a time, each with the reason."""
    found = extractions.open_extractions(session)
    return [
        (each, why_it_waits(session, each))
        for each in found
        if extractions.moved_at(session, each) < data["before"]
    ]


def why_it_waits(session: Session, extraction: Extraction) -> str:
    """What the tasks of an extraction wait for, in a sentence."""
    group = extractions.live_run(session, extraction.id)
    if group is None:
        return "none of its tasks is left in the queue"
    gate, closed, number = (one(session, _WAITS, {"group": group}) or (None, None, 0))[:3]
    if gate is not None:
        return f"{number:,} of its tasks wait for {gate}" + (f", which is closed: {closed}" if closed else "")
    last = one(session, _LAST_ERROR, {"group": group})
    if last is not None:
        return f"its tasks wait: {last[0]}"
    return f"{number:,} of its tasks wait for a worker"
