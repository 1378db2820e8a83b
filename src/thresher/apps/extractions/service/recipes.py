"""Recipes: add, change, detect, try, list and retire them.

Creating, changing and reconfiguring a recipe asks for a detection, in the same transaction; a configuration
that is given by hand is accepted at once and asks for none. Whatever was asked for last wins.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from thresher.admin.tasks import Added
from thresher.apps.extractions.detecting import detect_within
from thresher.apps.extractions.detection.report import Question, Report
from thresher.apps.extractions.entities import entity_types, result_schema
from thresher.apps.extractions.model import (
    DETECT,
    Configuration,
    Level,
    Origin,
    Recipe,
    RecipeStatus,
    detect_key,
    source_of,
)
from thresher.apps.extractions.recipe_file import RecipeSpec, checked_name, recipe_said, recipe_text
from thresher.apps.extractions.service.reports import DetectionReport, report_of
from thresher.apps.extractions.store.recipes import (
    APP,
    BY_FILE,
    SOURCE_LIMITS,
    RecipeVersion,
    claim_name,
    find_recipe,
    find_version,
    list_recipes,
    list_versions,
    made_by,
    retire_recipe,
    save_recipe,
    spec_of,
)
from thresher.apps.extractions.trial import PageTrial, try_page
from thresher.config.project import Project
from thresher.core.clock import FOREVER, as_text
from thresher.core.errors import NotAllowed, Refused, UnknownName, UsageError
from thresher.core.schema import Schema
from thresher.core.stored import read
from thresher.core.task import LIVE
from thresher.engine.registry import Registry
from thresher.runtime import Runtime, check_address, extract_once, fetch_once, read_once
from thresher.store.events import record_event
from thresher.store.session import Session
from thresher.store.sources import add_source, find_gates
from thresher.store.store import Store, Transaction

A_PERSON = "a person"
MAX_VERSIONS = 100
MAX_ITEMS = 20
_LIVE = f"""select 1 from tasks where kind = :kind and dedupe_key = :key and finished_at is null
    and state in ({", ".join(f"'{state}'" for state in sorted(LIVE))}) limit 1"""


@dataclass(frozen=True, slots=True)
class RecipeView:
    """A recipe as people see it. `version` counts its configurations, 0 for none yet; `made_by` made the one
    it has. `source` is what a person pauses, limits or disables.
    """

    id: int
    name: str
    url: str
    entity: str
    status: str
    reason: str | None
    configured: bool
    version: int
    made_by: str | None
    detection: int
    source: str
    closed_until: int | None
    closed_reason: str | None
    declared_in: str
    retired_at: int | None
    created_at: int
    updated_at: int


@dataclass(frozen=True, slots=True)
class VersionView:
    """One configuration that a recipe has had."""

    version: int
    made_by: str
    made_at: int
    recipe: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class RecipeDetail:
    """A recipe, what it says, what its detection found, the JSON Schema of what it brings, and its
    versions.
    """

    recipe: RecipeView
    said: Mapping[str, Any]
    yaml: str
    schema: Mapping[str, Any]
    report: DetectionReport | None = None
    versions: list[VersionView] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class RecipeChanged:
    """What became of a change: the recipe, and the task that detects its configuration, if it needs one."""

    recipe: RecipeView
    task: Added | None


@dataclass(frozen=True, slots=True)
class EntityView:
    """An entity type that comes with the app."""

    name: str
    required: list[str]
    optional: list[str]
    key: list[str]


# Look


def list_views(
    store: Store, *, retired: bool = False, after: str | None = None, limit: int = 10_000
) -> list[RecipeView]:
    """Recipes by name, after a name if one is given; with `retired` those that are no longer used too."""
    with store.read() as session:
        found = list_recipes(session, retired=retired, after=after or "", limit=limit)
        return [_view(store, session, each) for each in found]


def show_recipe(store: Store, name: str) -> RecipeDetail:
    """One recipe, by its name or id."""
    with store.read() as session:
        recipe = _found(session, name)
        spec = spec_of(recipe)
        return RecipeDetail(
            _view(store, session, recipe),
            recipe_said(spec),
            recipe_text(spec),
            result_schema(recipe.entity.schema),
            report_of(recipe.report),
            [_version(each) for each in list_versions(session, recipe.id, MAX_VERSIONS)],
        )


def list_entities() -> list[EntityView]:
    """The entity types that come with the app."""
    return [_entity(each.entity.schema) for each in entity_types().values()]


def _entity(schema: Schema) -> EntityView:
    required = [field.name for field in schema.fields if field.required]
    optional = [field.name for field in schema.fields if not field.required]
    return EntityView(schema.name, required, optional, list(schema.key))


def version_text(store: Store, name: str, version: int) -> str:
    """What a recipe said in an earlier version, as YAML."""
    with store.read() as session:
        return recipe_text(_version_of(session, _found(session, name), version).spec)


def _version_of(session: Session, recipe: Recipe, version: int) -> RecipeVersion:
    found = find_version(session, recipe.id, version)
    if found is None:
        raise UnknownName(
            f"{recipe.name!r} has no version {version}; thresher recipes versions {recipe.name} lists them"
        )
    return found


def spec_named(store: Store, name: str) -> RecipeSpec:
    """What a recipe says now, for whoever changes a part of it."""
    with store.read() as session:
        return spec_of(_found(session, name))


def _found(session: Session, name: str, lock: str = "") -> Recipe:
    recipe = find_recipe(session, name, lock)
    if recipe is None:
        raise UnknownName(f"there is no recipe {name[:80]!r}; thresher recipes list --retired shows them all")
    return recipe


def _version(version: RecipeVersion) -> VersionView:
    return VersionView(version.version, version.made_by, version.made_at, recipe_said(version.spec))


def _view(store: Store, session: Session, recipe: Recipe) -> RecipeView:
    status, reason = _standing(session, recipe)
    now, gates = store.backend.now(session), find_gates(session, name=f"source:{recipe.source}")
    until = max((max(each["open_after"], each["tripped_until"]) for each in gates), default=0)
    return RecipeView(
        recipe.id,
        recipe.name,
        recipe.url,
        recipe.entity.name,
        status.value,
        reason,
        recipe.configuration is not None,
        recipe.version,
        made_by(session, recipe),
        recipe.detection,
        recipe.source,
        until if until > now else None,
        gates[0]["closed_reason"] if until > now else None,
        recipe.origin.value,
        recipe.retired_at or None,
        recipe.created_at,
        recipe.updated_at,
    )


def _standing(session: Session, recipe: Recipe) -> tuple[RecipeStatus, str | None]:
    """A detection whose task was cancelled or given up is not under way, whatever its last stage has
    written.
    """
    waits = recipe.status in (RecipeStatus.WAITING, RecipeStatus.IN_PROGRESS) and not recipe.retired_at
    key = detect_key(recipe.id, recipe.detection)
    if not waits or session.rows(_LIVE, {"kind": DETECT, "key": key}):
        return recipe.status, recipe.reason
    return RecipeStatus.ERROR, (
        f"its detection ended without an answer; ask again: thresher recipes detect {recipe.name}"
    )


def closed_until(view: RecipeView) -> str:
    """When the source of a recipe opens again, for people."""
    until = view.closed_until
    return "until somebody enables it" if until is not None and until >= FOREVER else (as_text(until) or "")


# Change


def add_recipe(
    store: Store,
    registry: Registry,
    name: str,
    spec: RecipeSpec,
    *,
    by: str = A_PERSON,
    detect: bool = False,
) -> RecipeChanged:
    """Add a recipe; a retired one of this name comes back with its versions. `detect` asks for a detection
    although a configuration is given.
    """
    checked_name(name)

    def check(known: Recipe | None) -> None:
        if known is not None and not known.retired_at:
            raise NotAllowed(
                f"there is a recipe {name!r} already; change it: thresher recipes edit {name}, or "
                f"PUT /api/recipes/{name}"
            )

    return _saved(store, registry, name, spec, by, check, "the recipe is new", detect)


def update_recipe(
    store: Store,
    registry: Registry,
    name: str,
    spec: RecipeSpec,
    *,
    by: str = A_PERSON,
    detect: bool = False,
    seen: int | None = None,
    prove: bool = False,
) -> RecipeChanged:
    """Replace what a recipe says. Without a configuration it is detected again; until then the one that it
    has stays, unless its address is another. `seen` is the version that whoever changes it has looked at: if
    it is no longer the newest, nothing is replaced. `prove` lets a detection prove the configuration that is
    given, where `detect` looks for any.
    """
    with store.read() as session:
        known_as = _found(session, name).name

    def check(known: Recipe | None) -> None:
        if known is None:
            return
        if known.retired_at:
            raise NotAllowed(f"{known.name!r} is retired; add it again: thresher recipes add {known.name}")
        if seen is not None and known.version != seen:
            raise NotAllowed(
                f"{known.name!r} has changed meanwhile: it is version {known.version} now, and this was made "
                f"from version {seen}. Nothing was replaced; compare them and save again."
            )

    return _saved(store, registry, known_as, spec, by, check, "the recipe has changed", detect, prove)


def _saved(
    store: Store,
    registry: Registry,
    name: str,
    spec: RecipeSpec,
    by: str,
    check: Callable[[Recipe | None], None],
    why: str,
    detect: bool,
    prove: bool = False,
) -> RecipeChanged:
    def work(transaction: Transaction, now: int) -> tuple[Recipe, Added | None]:
        session = transaction.session
        known = claim_name(session, name, spec, Origin.PERSON, now)
        check(known)
        origin = _origin(session, known, spec)
        saved = save_recipe(session, name, spec, origin, by, now)
        if spec.configuration is not None and not detect and not prove:
            return saved, None
        given = spec.configuration if prove else None
        return saved, detect_within(transaction, registry, saved, why, now, given)

    return _changed(store, name, work)


def refuse_unfetchable(runtime: Runtime, url: str) -> None:
    """Refuse an address that this project may never fetch, before anything is stored. What robots.txt says is
    asked by the detection, which tells it as its reason.
    """
    try:
        check_address(runtime.outward, url)
    except Refused as problem:
        raise UsageError(f"url can never be fetched: {problem}. Nothing was stored.") from None


def report_question(report: Mapping[str, Any] | None) -> Question | None:
    """What a detection could not decide, with the configuration of each answer."""
    return None if report is None else read(Report, report).question


def _origin(session: Session, known: Recipe | None, spec: RecipeSpec) -> Origin:
    """What the project file says is changed there. What it leaves open, the configuration that was detected,
    a person may correct.
    """
    if known is None or known.origin is not Origin.FILE or known.retired_at:
        return Origin.PERSON
    same = (known.url, known.entity, known.limits) == (spec.url, spec.entity, spec.limits)
    if not same or (made_by(session, known) == BY_FILE and spec.configuration != known.configuration):
        raise UsageError(
            f"the project file declares {known.name!r}; change it there: extractions.recipes.{known.name}"
        )
    return Origin.FILE


def reconfigure(store: Store, registry: Registry, name: str) -> RecipeChanged:
    """Detect the configuration of a recipe anew. A detection that is under way is outdated by it."""

    def work(transaction: Transaction, now: int) -> tuple[Recipe, Added | None]:
        recipe = _found(transaction.session, name, transaction.session.dialect.lock)
        if recipe.retired_at:
            raise NotAllowed(f"{recipe.name!r} is retired; add it again: thresher recipes add {recipe.name}")
        return recipe, detect_within(transaction, registry, recipe, "somebody asked for it", now)

    with store.read() as session:
        known_as = _found(session, name).name
    return _changed(store, known_as, work)


def revert(store: Store, registry: Registry, name: str, version: int, *, by: str = A_PERSON) -> RecipeChanged:
    """Take up an earlier version of a recipe, all of it, as a new version."""
    with store.read() as session:
        recipe = _found(session, name)
        wanted = _version_of(session, recipe, version)
    return update_recipe(store, registry, recipe.name, wanted.spec, by=f"{by}, from version {version}")


def answer_question(
    store: Store,
    registry: Registry,
    name: str,
    choice: int,
    *,
    by: str = A_PERSON,
    detection: int | None = None,
) -> RecipeChanged:
    """Answer what the last detection has asked, by the number of a choice from 1. What was chosen becomes the
    configuration, and a new detection proves it. `detection` is the one whose question was seen: a later one
    may have asked something else.
    """
    with store.read() as session:
        recipe = _found(session, name)
        question = report_question(recipe.report)
        if question is None or detection not in (None, recipe.detection):
            raise NotAllowed(
                f"{recipe.name!r} does not ask this any more; thresher recipes show {recipe.name} says how it stands"
            )
    if not 1 <= choice <= len(question.choices):
        raise UsageError(f"there is no answer {choice}; write a number from 1 to {len(question.choices)}")
    chosen = read(Configuration, question.choices[choice - 1].configuration)
    spec = replace(spec_of(recipe), configuration=chosen)
    said = f"{by}, who answered a question"
    return update_recipe(store, registry, recipe.name, spec, by=said, prove=True, seen=recipe.version)


def remove_recipe(store: Store, name: str) -> RecipeView:
    """Retire a recipe: it starts nothing more, and its versions and data sets are kept."""
    with store.write() as session:
        recipe = _found(session, name, session.dialect.lock)
        if recipe.origin is Origin.FILE and not recipe.retired_at:
            raise UsageError(
                f"the project file declares {recipe.name!r}; remove it there: extractions.recipes"
            )
        now = store.backend.now(session)
        if retire_recipe(session, recipe.id, now):
            reason = "a person removed it"
            record_event(session, "recipe_retired", now, recipe=recipe.id, name=recipe.name, reason=reason)
    with store.read() as session:
        return _view(store, session, _found(session, recipe.name))


def _changed(
    store: Store, name: str, work: Callable[[Transaction, int], tuple[Recipe, Added | None]]
) -> RecipeChanged:
    # In a transaction of its own: on PostgreSQL the gates of a task are looked up aside from the one that
    # enqueues it.
    add_source(store, source_of(name), SOURCE_LIMITS, APP)
    with store.transaction() as transaction:
        recipe, task = work(transaction, store.backend.now(transaction.session))
    with store.read() as session:
        return RecipeChanged(_view(store, session, _found(session, recipe.name)), task)


# Try


@dataclass(frozen=True, slots=True)
class RecipeTrial:
    """What a recipe would do with one page. `level` counts from 1, the root; `items` are what the page says
    of itself, without a model.
    """

    url: str
    final_url: str
    level: int
    levels: int
    page_type: str
    page: PageTrial
    items: list[Mapping[str, Any]] = field(default_factory=list)
    items_found: int = 0
    doubts: list[str] = field(default_factory=list)


async def try_recipe(
    project: Project, spec: RecipeSpec, url: str | None = None, level: int | None = None
) -> RecipeTrial:
    """Fetch one page as a person would, and say what the configuration makes of it. Nothing is stored, no
    gate is charged; the guard and robots.txt hold. Pages are read, and patterns run, in a process that is
    killed at the limits of the project.
    """
    levels = _levels(spec)
    at = _level_of(url, level, len(levels))
    wanted = levels[at]
    page = await fetch_once(project, url or spec.url, render=wanted.render)
    found = await read_once(project, try_page, page, wanted)
    trial = RecipeTrial(url or spec.url, page.final_url, at + 1, len(levels), wanted.page_type.value, found)
    if not wanted.page_type.holds_data:
        return trial
    schema = replace(spec.entity.schema, many=wanted.several)
    extract = await extract_once(project, page, schema)
    items = schema.things(extract.value) if extract.value else []
    return replace(trial, items=items[:MAX_ITEMS], items_found=len(items), doubts=list(extract.doubts))


def _levels(spec: RecipeSpec) -> tuple[Level, ...]:
    if spec.configuration is None:
        raise UsageError("the recipe has no configuration yet; thresher recipes detect finds one")
    if spec.configuration.is_api:
        raise UsageError("the recipe reads an API, which has no pages to try")
    return spec.configuration.levels


def _level_of(url: str | None, level: int | None, levels: int) -> int:
    """The root is tried at the first level; another address is taken for a page of the last."""
    if level is None:
        return 0 if url is None else levels - 1
    if not 1 <= level <= levels:
        raise UsageError(f"level {level} is not there; the recipe has the levels 1 to {levels}")
    return level - 1
