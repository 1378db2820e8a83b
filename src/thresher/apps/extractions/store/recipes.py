"""`recipes` and `recipe_versions`: recipes, how their configuration stands, and every one that they have had.

Whoever is asked for a configuration gets a number, and only the newest number may write: a detection that
was asked for earlier, or that ends after a person has given a configuration, changes nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from thresher.apps.extractions.entities import entity_from, entity_text
from thresher.apps.extractions.model import (
    Configuration,
    Limits,
    Origin,
    Recipe,
    RecipeStatus,
    source_of,
)
from thresher.apps.extractions.recipe_file import RecipeSpec
from thresher.core.gate import GateLimits, interval_us
from thresher.core.limits import all_without_controls, without_controls
from thresher.core.stored import read, written
from thresher.store.session import Row, Session, one
from thresher.store.sources import add_source_within, set_rate_within

APP = "extractions"
BY_FILE = "the project file"
MAX_REASON = 2_000  # characters
# A person limits a recipe; what its site can take is said at the gate of its host.
SOURCE_LIMITS = GateLimits()

_COLUMNS = (
    "id",
    "name",
    "url",
    "entity",
    "configuration",
    "limits",
    "status",
    "reason",
    "version",
    "detection",
    "origin",
    "report",
    "retired_at",
    "created_at",
    "updated_at",
)
_SELECT = f"select {', '.join(_COLUMNS)} from recipes"
_BY_ID = f"{_SELECT} where id = :id"
_BY_NAME = f"{_SELECT} where name = :name"
_ALL = f"{_SELECT} where (retired_at = 0 or :retired = 1) and name > :after order by name limit :limit"
_INSERT = """insert into recipes (name, url, entity, limits, origin, created_at, updated_at)
    values (:name, :url, :entity, :limits, :origin, :now, :now) on conflict (name) do nothing"""
_SAVE = """update recipes set url = :url, entity = :entity, limits = :limits, origin = :origin, retired_at = 0,
    updated_at = :now where id = :id"""
_FORGET = "update recipes set configuration = null, report = null where id = :id"
_ASK = """update recipes set detection = detection + 1, status = 'WAITING', reason = :reason, updated_at = :now
    where id = :id"""
_OUTDATE = "update recipes set detection = detection + 1 where id = :id"
_ACCEPT = """update recipes set configuration = :configuration, status = 'SUCCESS', reason = :reason, report = :report,
    updated_at = :now where id = :id"""
_COUNT = "update recipes set version = version + 1 where id = :id"
_KEEP = """insert into recipe_versions (recipe_id, version, url, entity, configuration, limits, made_by, made_at)
    values (:id, :version, :url, :entity, :configuration, :limits, :made_by, :now)
    on conflict (recipe_id, version) do nothing"""
# A task that was retried after its failure begins again, so ERROR is no end here; SUCCESS is.
_BEGAN = """update recipes set status = 'IN_PROGRESS', reason = null, updated_at = :now
    where id = :id and detection = :detection and retired_at = 0 and status <> 'SUCCESS'"""
_UNDETECTED = """update recipes set status = 'ERROR', reason = :reason, report = :report, updated_at = :now
    where id = :id and detection = :detection and retired_at = 0 and status <> 'SUCCESS'"""
_RETIRE = """update recipes set retired_at = :now, detection = detection + 1, updated_at = :now
    where id = :id and retired_at = 0"""
_VERSION_COLUMNS = ("version", "url", "entity", "configuration", "limits", "made_by", "made_at")
_VERSIONS = f"""select {", ".join(_VERSION_COLUMNS)} from recipe_versions where recipe_id = :id
    order by version desc limit :limit"""
_VERSION = f"""select {", ".join(_VERSION_COLUMNS)} from recipe_versions
    where recipe_id = :id and version = :version"""


@dataclass(frozen=True, slots=True)
class RecipeVersion:
    """A configuration that a recipe has had, with what it was for and who made it."""

    version: int
    spec: RecipeSpec
    made_by: str
    made_at: int


# Look


def find_recipe(session: Session, name: str, lock: str = "") -> Recipe | None:
    """The recipe of this name, or of this id; a name begins with a letter. Retired ones count."""
    if name.isdecimal() and name.isascii():
        return recipe_of_id(session, int(name), lock) if len(name) < 19 else None
    row = one(session, _BY_NAME + lock, {"name": name})
    return None if row is None else _recipe(row)


def recipe_of_id(session: Session, recipe: int, lock: str = "") -> Recipe | None:
    """The recipe of this id, retired or not."""
    row = one(session, _BY_ID + lock, {"id": recipe})
    return None if row is None else _recipe(row)


def list_recipes(
    session: Session, *, retired: bool = False, after: str = "", limit: int = 10_000
) -> list[Recipe]:
    """Recipes by name, after a name if one is given; with `retired` those that are no longer used too."""
    given = {"retired": int(retired), "after": after, "limit": limit}
    return [_recipe(row) for row in session.rows(_ALL, given)]


def list_versions(session: Session, recipe: int, limit: int = 1_000) -> list[RecipeVersion]:
    """The configurations that a recipe has had, newest first."""
    return [_version(row) for row in session.rows(_VERSIONS, {"id": recipe, "limit": limit})]


def find_version(session: Session, recipe: int, version: int) -> RecipeVersion | None:
    """One of them."""
    row = one(session, _VERSION, {"id": recipe, "version": version})
    return None if row is None else _version(row)


def spec_of(recipe: Recipe) -> RecipeSpec:
    """A stored recipe as a person would write it."""
    return RecipeSpec(recipe.url, recipe.entity, recipe.configuration, recipe.limits)


# Change


def claim_name(session: Session, name: str, spec: RecipeSpec, origin: Origin, now: int) -> Recipe | None:
    """Take a name for a new recipe; returns the one that has it already, locked. Of several who want a new
    name at once one gets None.
    """
    add_source_within(session, source_of(name), SOURCE_LIMITS, APP, now)
    values = {**_spec_values(spec), "origin": origin.value, "now": now}
    if session.run(_INSERT, {"name": name, **values}):
        _set_rate(session, name, None, spec.limits.rate, now)
        return None
    return find_recipe(session, name, session.dialect.lock)


def _set_rate(session: Session, name: str, was: str | None, rate: str | None, now: int) -> None:
    """The rate of a recipe is a limit of its source. One that has not changed is left as it is there, for an
    administrator may have limited the source by hand.
    """
    if was != rate:
        set_rate_within(session, f"source:{source_of(name)}", interval_us(rate), now=lambda _: now)


def save_recipe(session: Session, name: str, spec: RecipeSpec, origin: Origin, by: str, now: int) -> Recipe:
    """Write a recipe, a new one or a known one, which is then no longer retired.

    A configuration that is given is accepted at once. Without one the known configuration stays, unless the
    recipe begins at another address: what was proved there says nothing about here.
    """
    claim_name(session, name, spec, origin, now)
    known = find_recipe(session, name, session.dialect.lock)
    assert known is not None, "it was inserted, or it was there"
    _set_rate(session, name, known.limits.rate, spec.limits.rate, now)
    session.run(_SAVE, {"id": known.id, **_spec_values(spec), "origin": origin.value, "now": now})
    if spec.configuration is not None:
        return give_configuration(session, known.id, spec.configuration, by, now)
    if known.url != spec.url:
        session.run(_FORGET, {"id": known.id})
    elif known.configuration is not None:
        _keep_version(session, known.id, by, now)
    return _again(session, known.id)


def give_configuration(
    session: Session, recipe: int, configuration: Configuration, by: str, now: int
) -> Recipe:
    """Accept a configuration that a person has written: it needs no proof, and no detection may replace it
    that was asked for before.
    """
    session.run(_OUTDATE, {"id": recipe})
    _accept(session, recipe, configuration, {"reason": f"given by {by}", "report": None, "now": now})
    _keep_version(session, recipe, by, now)
    return _again(session, recipe)


def ask_detection(session: Session, recipe: int, reason: str, now: int) -> int:
    """Let a recipe wait for a configuration; returns the number that the detection must show."""
    session.run(_ASK, {"id": recipe, "reason": _reason(reason), "now": now})
    return _again(session, recipe).detection


def retire_recipe(session: Session, recipe: int, now: int) -> bool:
    """Use a recipe no more, and keep what it has brought; False if it was retired."""
    return session.run(_RETIRE, {"id": recipe, "now": now}) > 0


def made_by(session: Session, recipe: Recipe) -> str | None:
    """Who made the configuration that a recipe has now."""
    found = find_version(session, recipe.id, recipe.version)
    return found.made_by if found and recipe.configuration is not None else None


# What the stages of a detection read and ask for. `data` names the recipe by its id.


def read_recipe(session: Session, data: Mapping[str, Any], now: int) -> Recipe | None:
    """The recipe of `{recipe}`, retired or not."""
    del now
    return recipe_of_id(session, data["recipe"])


def detection_began(session: Session, data: Mapping[str, Any], now: int) -> None:
    """`{recipe, detection}`: the newest detection is being worked on."""
    session.run(_BEGAN, {"id": data["recipe"], "detection": data["detection"], "now": now})


def detected(session: Session, data: Mapping[str, Any], now: int) -> None:
    """`{recipe, detection, configuration, report, made_by, reason}`: accept what the newest detection has
    found. `configuration` is plain data, as `core.stored` writes it.
    """
    known = recipe_of_id(session, data["recipe"], session.dialect.lock)
    if known is None or not _is_newest(known, data["detection"]):
        return
    values = {"reason": _reason(data["reason"]), "report": _json(data.get("report")), "now": now}
    _accept(session, known.id, read(Configuration, data["configuration"]), values)
    _keep_version(session, known.id, data["made_by"], now)


def undetected(session: Session, data: Mapping[str, Any], now: int) -> None:
    """`{recipe, detection, reason, report}`: the newest detection has found nothing that it could prove. A
    configuration that the recipe had stays.
    """
    session.run(
        _UNDETECTED,
        {
            "id": data["recipe"],
            "detection": data["detection"],
            "reason": _reason(data["reason"]),
            "report": _json(data.get("report")),
            "now": now,
        },
    )


def _is_newest(recipe: Recipe, detection: int) -> bool:
    """A settlement may be made twice: then the recipe has its configuration already."""
    return (
        recipe.detection == detection and not recipe.retired_at and recipe.status is not RecipeStatus.SUCCESS
    )


def _accept(session: Session, recipe: int, configuration: Configuration, values: Mapping[str, Any]) -> None:
    session.run(_ACCEPT, {**values, "id": recipe, "configuration": _json(written(configuration))})


def _keep_version(session: Session, recipe: int, by: str, now: int) -> None:
    """Number a recipe as it stands now, unless that is what its last number says."""
    now_is = _again(session, recipe)
    last = find_version(session, recipe, now_is.version)
    if last is not None and last.spec == spec_of(now_is):
        return
    session.run(_COUNT, {"id": recipe})
    session.run(
        _KEEP,
        {
            **_spec_values(spec_of(now_is)),
            "id": recipe,
            "version": now_is.version + 1,
            "configuration": _json(written(now_is.configuration)),
            "made_by": without_controls(by)[:MAX_REASON],
            "now": now,
        },
    )


def _again(session: Session, recipe: int) -> Recipe:
    found = recipe_of_id(session, recipe)
    assert found is not None, "recipes are retired, never deleted"
    return found


# Rows


def _recipe(row: Row) -> Recipe:
    said = dict(zip(_COLUMNS, row, strict=True))
    return Recipe(
        said["id"],
        said["name"],
        said["url"],
        entity_from(said["entity"]),
        None if said["configuration"] is None else read(Configuration, orjson.loads(said["configuration"])),
        read(Limits, orjson.loads(said["limits"])),
        RecipeStatus(said["status"]),
        said["reason"],
        said["version"],
        said["detection"],
        Origin(said["origin"]),
        None if said["report"] is None else orjson.loads(said["report"]),
        said["retired_at"],
        said["created_at"],
        said["updated_at"],
    )


def _version(row: Row) -> RecipeVersion:
    said = dict(zip(_VERSION_COLUMNS, row, strict=True))
    spec = RecipeSpec(
        said["url"],
        entity_from(said["entity"]),
        read(Configuration, orjson.loads(said["configuration"])),
        read(Limits, orjson.loads(said["limits"])),
    )
    return RecipeVersion(said["version"], spec, said["made_by"], said["made_at"])


def _spec_values(spec: RecipeSpec) -> dict[str, Any]:
    return {"url": spec.url, "entity": entity_text(spec.entity), "limits": _json(written(spec.limits))}


def _json(value: Any) -> str | None:
    return None if value is None else orjson.dumps(all_without_controls(value)).decode()


def _reason(text: str) -> str:
    return without_controls(text)[:MAX_REASON]
