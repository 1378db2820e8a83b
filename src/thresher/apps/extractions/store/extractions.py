"""`extractions` and their steps: how each stands, and the figures of its pages.

Figures are counted from the rows of the pages when somebody looks, so they can never differ from them. An
extraction is over when the group of its tasks is; what its last task writes is here too.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import lru_cache
from typing import Any

import orjson

from thresher.apps.extractions.entities import entity_from
from thresher.apps.extractions.model import (
    Configuration,
    Entity,
    Extraction,
    ExtractionStatus,
    Limits,
    PageType,
    Recipe,
    StepKind,
)
from thresher.core.errors import UnknownName
from thresher.core.stored import read
from thresher.store.events import record_event
from thresher.store.session import Row, Session, one

_PLAIN = (
    "id",
    "recipe_id",
    "recipe_name",
    "recipe_version",
    "url",
    "reason",
    "created_at",
    "started_at",
    "resumed_at",
    "ended_at",
    "cost",
    "dropped",
    "previous_id",
)
_NAMES = (*_PLAIN, "entity", "configuration", "limits", "status", "stale_at", "completion")
_COLUMNS = ", ".join("r.name" if name == "recipe_name" else f"e.{name}" for name in _NAMES)
_FROM = f"select {_COLUMNS} from extractions e join recipes r on r.id = e.recipe_id"
_ONE = f"{_FROM} where e.id = :id"
_LATEST = f"{_FROM} where e.id < :before order by e.id desc limit :limit"
_OF_RECIPE = f"{_FROM} where e.recipe_id = :recipe and e.id < :before order by e.id desc limit :limit"
_OPEN = f"{_FROM} where e.status in ('WAITING', 'IN_PROGRESS') order by e.id limit :limit"
_CREATE = """insert into extractions (recipe_id, recipe_version, url, entity, configuration, limits, created_at, previous_id)
    select r.id, r.version, r.url, r.entity, r.configuration, r.limits, :now,
        (select max(e.id) from extractions e where e.recipe_id = r.id and e.status = 'COMPLETE')
    from recipes r where r.id = :recipe returning id"""
_BEGIN = """update extractions set status = 'IN_PROGRESS', reason = null, stale_at = 0, ended_at = 0,
    started_at = case when started_at = 0 then :now else started_at end
    where id = :id and status in ('WAITING', 'STALE')"""
# The limits are those of the recipe as it is now: whoever raises one means the extraction that goes on.
_RESUME = """update extractions set status = 'IN_PROGRESS', reason = null, stale_at = 0, ended_at = 0, completion = null,
    resumed_at = :now, limits = (select r.limits from recipes r where r.id = extractions.recipe_id)
    where id = :id"""
_FINISH = """update extractions set status = :status, reason = :reason, ended_at = :now, cost = :cost, completion = :completion
    where id = :id and status in ('WAITING', 'IN_PROGRESS', 'STALE', 'CANCELLED')"""
_CANCEL = """update extractions set status = 'CANCELLED', reason = :reason, ended_at = :now
    where id = :id and status in ('WAITING', 'IN_PROGRESS', 'STALE')"""
_STALE = """update extractions set status = 'STALE', reason = :reason, stale_at = :now
    where id = :id and status in ('WAITING', 'IN_PROGRESS')"""
_STEP = """insert into extraction_steps (extraction_id, step, kind, level, page_type, created_at)
    values (:extraction, :step, :kind, :level, :page_type, :now) on conflict do nothing"""
_STEPS = "select step, kind, level, page_type from extraction_steps where extraction_id = :id order by step"
_FIGURES = """select step, status, extraction_status, count(*), sum(items) from extraction_pages where extraction_id = :id
    group by step, status, extraction_status"""
_MOVED = "select max(moved_at) from extraction_pages where extraction_id = :id"
_RUNNING = "select count(*) from tasks where kind = :kind and state = 'running' and dedupe_key like :keys"
_LIVE_GROUP = "select id from task_groups where name = 'startExtraction' and open_key = :key"
_LINEAGE = (
    "insert into extraction_runs (extraction_id, task_id) values (:extraction, :task) on conflict do nothing"
)
_COST = """select coalesce(sum(s.spent), 0) from spendings s
    where s.tracking_id in (select r.task_id from extraction_runs r where r.extraction_id = :id)"""
_COST_BEFORE = f"{_COST} and s.tracking_id <> :lineage"
_KINDS = ("fetchPage", "extractData", "extractDataWithApi")


@dataclass(frozen=True, slots=True)
class StepFigures:
    """How far one step has come. Pages are downloaded; those with data are then read into items."""

    step: int
    kind: StepKind
    level: int
    page_type: str
    total: int = 0
    waiting: int = 0
    succeeded: int = 0
    failed: int = 0
    skipped: int = 0
    extractions_attempted: int = 0
    extractions_succeeded: int = 0
    extractions_failed: int = 0
    items: int = 0

    @property
    def attempted(self) -> int:
        return self.succeeded + self.failed + self.skipped

    @property
    def unread(self) -> int:
        """Pages with data that were fetched, and that nobody has read."""
        holds_data = PageType(self.page_type).holds_data
        return self.succeeded - self.extractions_attempted if holds_data else 0


@dataclass(frozen=True, slots=True)
class StoredExtraction:
    """An extraction with what only its row says: since when it is stale, and its last figures."""

    extraction: Extraction
    stale_at: int = 0
    completion: Mapping[str, Any] = field(default_factory=dict)


def find_extraction(session: Session, extraction_id: int) -> Extraction | None:
    row = one(session, _ONE, {"id": extraction_id})
    return _extraction(row).extraction if row else None


def get_extraction(session: Session, extraction_id: int) -> StoredExtraction:
    """One extraction. Raises UnknownName."""
    row = one(session, _ONE, {"id": extraction_id})
    if row is None:
        raise UnknownName(
            f"there is no extraction {extraction_id}; thresher extract list shows the latest ones"
        )
    return _extraction(row)


def list_extractions(
    session: Session, recipe_id: int | None = None, *, limit: int = 50, before: int | None = None
) -> list[StoredExtraction]:
    """The latest extractions, of one recipe or of all, newest first."""
    asked = {"recipe": recipe_id, "limit": limit, "before": before if before is not None else 2**62}
    return [_extraction(row) for row in session.rows(_LATEST if recipe_id is None else _OF_RECIPE, asked)]


def open_extractions(session: Session, limit: int = 1_000) -> list[Extraction]:
    """Extractions that are under way, oldest first."""
    return [_extraction(row).extraction for row in session.rows(_OPEN, {"limit": limit})]


def _extraction(row: Row) -> StoredExtraction:
    said = dict(zip(_NAMES, row, strict=True))
    made = Extraction(
        **{name: said[name] for name in _PLAIN},
        entity=entity_of(said["entity"]),
        configuration=configuration_of(said["configuration"]),
        limits=read(Limits, orjson.loads(said["limits"])),
        status=ExtractionStatus(said["status"]),
    )
    completion = orjson.loads(said["completion"]) if said["completion"] else {}
    return StoredExtraction(made, said["stale_at"], completion)


# Every page of an extraction asks for these, and they never change.


@lru_cache(256)
def configuration_of(text: str) -> Configuration:
    """A configuration as it is stored."""
    return read(Configuration, orjson.loads(text))


@lru_cache(256)
def entity_of(text: str) -> Entity:
    """An entity as it is stored."""
    return entity_from(text)


def create_extraction(session: Session, recipe: Recipe, now: int) -> int:
    """A new extraction of a recipe as it is now."""
    return int(session.rows(_CREATE, {"recipe": recipe.id, "now": now})[0][0])


def read_figures(session: Session, extraction_id: int) -> list[StepFigures]:
    """The steps of an extraction in their order, each with what became of its pages."""
    counted: dict[int, dict[str, int]] = {}
    for step, status, extracted, pages, items in session.rows(_FIGURES, {"id": extraction_id}):
        found = counted.setdefault(step, dict.fromkeys(_NUMBERS, 0))
        found["total"] += pages
        found[_BY_STATUS[status]] += pages
        found["items"] += int(items or 0)
        if extracted in ("SUCCESS", "ERROR"):
            found["extractions_attempted"] += pages
            found["extractions_succeeded" if extracted == "SUCCESS" else "extractions_failed"] += pages
    return [
        StepFigures(step, StepKind(kind), level, page_type, **counted.get(step, {}))
        for step, kind, level, page_type in session.rows(_STEPS, {"id": extraction_id})
    ]


_NUMBERS = tuple(
    each.name for each in fields(StepFigures) if each.type is int and each.name not in ("step", "level")
)
_BY_STATUS = {"WAITING": "waiting", "SUCCESS": "succeeded", "ERROR": "failed", "SKIPPED": "skipped"}


def moved_at(session: Session, extraction: Extraction) -> int:
    """When anything of an extraction last moved."""
    row = one(session, _MOVED, {"id": extraction.id})
    return max(
        (row[0] if row else None) or 0, extraction.started_at, extraction.resumed_at, extraction.created_at
    )


def running_tasks(session: Session, extraction_id: int) -> dict[str, int]:
    """How many tasks of an extraction run now, by kind."""
    found = {}
    for kind in _KINDS:
        row = one(session, _RUNNING, {"kind": kind, "keys": f"{kind}.{extraction_id}-%"})
        found[kind] = row[0] if row else 0
    return found


def live_run(session: Session, extraction_id: int) -> int | None:
    """The run of an extraction that has not ended."""
    row = one(session, _LIVE_GROUP, {"key": group_key(extraction_id)})
    return row[0] if row else None


def group_key(extraction_id: int) -> str:
    return f"extraction.{extraction_id}"


def start_key(extraction_id: int) -> str:
    return f"startExtraction.{extraction_id}"


def spent(session: Session, extraction_id: int) -> int:
    """What the models have cost so far, in millionths of a dollar."""
    return int(session.rows(_COST, {"id": extraction_id})[0][0])


# Effects


def begin(session: Session, data: Mapping[str, Any], now: int) -> None:
    """The first page is being read, or a stale extraction moves again."""
    session.run(_BEGIN, {"id": data["extraction"], "now": now})


def note_run(session: Session, data: Mapping[str, Any], now: int) -> None:
    """A task begins or resumes an extraction: what its lineage spends is spent on it."""
    session.run(_LINEAGE, {"extraction": data["extraction"], "task": data["task"]})
    if data["mode"] != "start":
        session.run(_RESUME, {"id": data["extraction"], "now": now})


def add_step(session: Session, extraction_id: int, step: Mapping[str, Any], now: int) -> None:
    session.run(_STEP, {"extraction": extraction_id, "now": now, **step})


def finish(session: Session, data: Mapping[str, Any], now: int) -> None:
    """Every task of an extraction has ended."""
    said = {
        "id": data["extraction"],
        "status": data["status"],
        "reason": data["reason"],
        "cost": data["cost"],
        "completion": orjson.dumps(data["completion"]).decode(),
        "now": now,
    }
    if session.run(_FINISH, said):
        told = {name: data[name] for name in ("status", "reason", "cost")}
        record_event(session, "extraction_ended", now, extraction=data["extraction"], **told)


def cancel(session: Session, data: Mapping[str, Any], now: int) -> None:
    """A person, a budget or a failed API ends an extraction."""
    if session.run(_CANCEL, {"id": data["extraction"], "reason": data["reason"], "now": now}):
        record_event(
            session, "extraction_cancelled", now, extraction=data["extraction"], reason=data["reason"]
        )


def mark_stale(session: Session, data: Mapping[str, Any], now: int) -> None:
    """Nothing has moved for too long."""
    if session.run(_STALE, {"id": data["extraction"], "reason": data["reason"], "now": now}):
        record_event(session, "extraction_stale", now, extraction=data["extraction"], reason=data["reason"])


# Reads


def read_extraction(session: Session, data: Mapping[str, Any], now: int) -> Extraction | None:  # noqa: ARG001  every read is given the time
    return find_extraction(session, data["extraction"])


def spent_before(session: Session, data: Mapping[str, Any], now: int) -> int:  # noqa: ARG001  every read is given the time
    """Read: what the models have cost in other runs of an extraction than this lineage."""
    asked = {"id": data["extraction"], "lineage": data["lineage"]}
    return int(session.rows(_COST_BEFORE, asked)[0][0])
