"""What the end of an extraction is judged by: root, steps and data set; and why one does not move."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from thresher.apps.extractions.model import Entity, Extraction, PageStatus, PageType, page_name
from thresher.apps.extractions.store import datasets, extractions
from thresher.apps.extractions.store.extractions import StepFigures
from thresher.apps.extractions.store.pages import find_page
from thresher.store.session import Session, one

Coverage = Mapping[str, Mapping[str, int]]

# A field that most items had, and that is missing from more than half of those, is lost.
COMMON, LOST = 0.5, 0.5
_WAITS = """select g.name, g.closed_reason, count(*) from tasks t join lanes l on l.id = t.lane_id
    left join gates g on g.id = l.parked_on where t.group_id = :group and t.finished_at is null
    group by g.name, g.closed_reason order by count(*) desc limit 1"""
_LAST_ERROR = """select t.reason from tasks t where t.group_id = :group and t.finished_at is null and t.reason is not null
    order by t.id limit 1"""
_LAST_SET = """select id from datasets where recipe_id = :recipe and ended_at > 0 and extraction_id <> :extraction
    order by id desc limit 1"""


@dataclass(frozen=True, slots=True)
class Totals:
    """An extraction as its last task finds it. `cost` is in millionths of a dollar; `coverage_lost` names
    fields that far fewer items have than in the data set before; `api_note` is what an API leaves to be said.
    """

    extraction: Extraction
    root: PageStatus
    root_failure: str | None = None
    steps: tuple[StepFigures, ...] = ()
    items: int = 0
    unverified: int = 0
    cost: int = 0
    coverage: Coverage = field(default_factory=dict)
    coverage_lost: tuple[str, ...] = ()
    api_note: str | None = None

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
        """Whether pages failed, lists among them, and not one with data was read: that proves nothing."""
        read = sum(step.extractions_succeeded for step in self.steps if PageType(step.page_type).holds_data)
        return bool(self.failed) and not read

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
    before = _coverage_before(session, extraction)
    return Totals(
        extraction,
        root.status if root else PageStatus.ERROR,
        (root.failure or {}).get("message") if root else "its task was refused",
        tuple(extractions.read_figures(session, extraction.id)),
        dataset.items if dataset else 0,
        dataset.unverified if dataset else 0,
        extractions.spent(session, extraction.id),
        coverage,
        lost_fields(before, coverage, dataset.items if dataset else 0, extraction.entity),
        root.note if root and extraction.configuration.is_api else None,
    )


def one_dataset(session: Session, extraction_id: int, version: int) -> datasets.DataSet | None:
    """The data set of an extraction in one version."""
    found = datasets.datasets_of(session, extraction_id)
    return next((each for each in found if each.version == version), None)


def _coverage_before(session: Session, extraction: Extraction) -> tuple[Coverage, int]:
    row = one(session, _LAST_SET, {"recipe": extraction.recipe_id, "extraction": extraction.id})
    if row is None:
        return {}, 0
    found = datasets.get_dataset(session, row[0])
    return found.coverage, found.items


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
