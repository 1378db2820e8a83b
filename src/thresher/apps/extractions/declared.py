"""The key `extractions` of `thresher.yaml`: the recipes that a project keeps.

    extractions:
      recipes:
        acme-courses:
          url: https://catalog.acme.example/courses
          entity: course

A recipe that is no longer there is retired: it starts nothing more, and what it has brought is kept. One that
has changed gets a new version, and a new detection where its address or its entity is another, or where it
has no configuration.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from thresher.apps.extractions.app import app
from thresher.apps.extractions.detecting import detect_within
from thresher.apps.extractions.model import Origin, Recipe, RecipeStatus, source_of
from thresher.apps.extractions.recipe_file import RecipeSpec, checked_name, recipe_of
from thresher.apps.extractions.store.recipes import (
    APP,
    BY_FILE,
    SOURCE_LIMITS,
    claim_name,
    find_recipe,
    list_recipes,
    made_by,
    retire_recipe,
    save_recipe,
)
from thresher.core.errors import ConfigError
from thresher.core.extension import Declaration
from thresher.engine.registry import Registry
from thresher.reading.structured.checked_yaml import Mistake, mapping_of, written
from thresher.store.events import record_event
from thresher.store.session import Session
from thresher.store.sources import add_source
from thresher.store.store import Store, Transaction

SECTION = "extractions"
KEYS = ("recipes",)


def declare(store: Store, declaration: Declaration) -> None:
    """See to it that the database says what the project says."""
    declare_with(store, Registry([app], store.settings), declaration)


def declare_with(store: Store, registry: Registry, declaration: Declaration) -> None:
    """The same where somebody knows the kinds of tasks. Nothing is written where nothing has changed."""
    declared = read_declared(declaration)
    with store.read() as session:
        if not _differs(session, declared) and not _vanished(session, declared):
            return
    for name in declared:
        add_source(store, source_of(name), SOURCE_LIMITS, APP)
    with store.transaction() as transaction:
        _save(transaction, registry, declared, store.backend.now(transaction.session))


def read_declared(declaration: Declaration) -> dict[str, RecipeSpec]:
    """What a project declares, by name. Raises ConfigError that names file, line and key."""
    try:
        said = mapping_of({} if declaration.said is None else declaration.said, KEYS, (SECTION,))
        recipes = said.get("recipes") or {}
        return dict(_recipes(recipes, declaration.folder))
    except Mistake as mistake:
        raise declaration.error(written(mistake.path), mistake.advice) from None


def _recipes(recipes: Any, folder: Path) -> Iterable[tuple[str, RecipeSpec]]:
    path = (SECTION, "recipes")
    if not isinstance(recipes, dict):
        raise Mistake(path, "must map names to recipes")
    for name, said in recipes.items():
        try:
            checked_name(name)
        except ConfigError as problem:
            raise Mistake((*path, str(name)), str(problem)) from None
        yield name, recipe_of(said, folder, (*path, name))


def _save(transaction: Transaction, registry: Registry, declared: Mapping[str, RecipeSpec], now: int) -> None:
    session = transaction.session
    for name, spec in declared.items():
        known = claim_name(session, name, spec, Origin.FILE, now)  # another process may start just now
        why = _why(session, known, spec)
        if known is not None and not why and not is_changed(known, spec):
            continue
        saved = save_recipe(session, name, spec, Origin.FILE, BY_FILE, now)
        if why or saved.configuration is None:
            detect_within(transaction, registry, saved, why or "it has no configuration", now)
    for recipe in _vanished(session, declared):
        if retire_recipe(session, recipe.id, now):
            reason = "it is no longer in the project file"
            record_event(session, "recipe_retired", now, recipe=recipe.id, name=recipe.name, reason=reason)


def _differs(session: Session, declared: Mapping[str, RecipeSpec]) -> bool:
    found = ((find_recipe(session, name), spec) for name, spec in declared.items())
    return any(
        known is None or is_changed(known, spec) or _why(session, known, spec) for known, spec in found
    )


def _why(session: Session, known: Recipe | None, spec: RecipeSpec) -> str | None:
    return why_detect(known, spec, made_by(session, known) if known else None)


def _vanished(session: Session, declared: Mapping[str, RecipeSpec]) -> list[Recipe]:
    found = list_recipes(session)
    return [each for each in found if each.origin is Origin.FILE and each.name not in declared]


def is_changed(known: Recipe, spec: RecipeSpec) -> bool:
    """Tell whether a stored recipe is other than the project says. A configuration that the project does not
    give is for the detection, or for a person.
    """
    return (
        (known.url, known.entity, known.limits) != (spec.url, spec.entity, spec.limits)
        or (spec.configuration is not None and known.configuration != spec.configuration)
        or known.origin is not Origin.FILE
        or known.retired_at > 0
    )


def why_detect(known: Recipe | None, spec: RecipeSpec, maker: str | None) -> str | None:
    """Why a recipe of the project file needs a detection; None where it needs none. A detection that has
    failed is not repeated with every start.
    """
    if spec.configuration is not None:
        return None
    if known is None:
        return "the recipe is new"
    if known.url != spec.url:
        return "its address has changed"
    if known.entity != spec.entity:
        return "its entity has changed"
    if maker == BY_FILE and known.status is RecipeStatus.SUCCESS:
        return "the project file no longer gives a configuration"
    return None
