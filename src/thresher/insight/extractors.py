"""Learned extractors as a person sees them: how good they are, and by which rules they read."""

from dataclasses import dataclass

from thresher.core.errors import UnknownName
from thresher.engine.reader import extractor_of
from thresher.learning.locator import Css, Data, How, Label
from thresher.learning.rule import Rule
from thresher.store import extractors
from thresher.store.extractors import Learned
from thresher.store.store import Store

_BESIDE = {
    How.CELL: "the cell after {!r}",
    How.LEAF: "the text after {!r}",
    How.BLOCK: "the paragraph after {!r}",
    How.REST: "what follows {!r}",
    How.UNDER: "the cell under {!r}",
}


@dataclass(frozen=True, slots=True)
class FieldView:
    """How one field is read: its rules in words, the best first; without any, why there are none."""

    field: str
    score: float | None
    rules: tuple[str, ...]
    why_not: str | None = None


@dataclass(frozen=True, slots=True)
class ExtractorView:
    """One version. `good` and `drifted` count pages."""

    site: str
    schema: str
    version: int
    state: str
    score: float
    good: int
    drifted: int
    last_drift: str | None
    drift_at: int | None
    made_at: int


def list_extractors(
    store: Store, *, site: str = "", everything: bool = False, limit: int = 100
) -> list[ExtractorView]:
    """Those in use or in doubt; with `everything` also those that were replaced."""
    found = extractors.versions(store, site, limit=limit)
    return [_view(each) for each in found if everything or each.state != "retired"]


def show_extractor(store: Store, site: str, schema: str) -> tuple[ExtractorView, list[FieldView]]:
    """The newest version of a site, field by field."""
    found = extractors.last(store, site, schema)
    if found is None:
        raise UnknownName(
            f"nothing was learned of {site} for {schema!r}; thresher extractors list shows what was"
        )
    learned = extractor_of(found)
    fields = [
        FieldView(field.name, rules.score, tuple(map(_words, rules.rules)))
        if (rules := learned.fields.get(field.name))
        else FieldView(field.name, None, (), learned.unlearned.get(field.name, "it is judged, not read"))
        for field in learned.schema.fields
    ]
    return _view(found), fields


def _view(each: Learned) -> ExtractorView:
    return ExtractorView(
        each.site,
        each.schema_name,
        each.version,
        each.state,
        each.score,
        each.good,
        each.drifted,
        each.last_drift,
        each.drift_at,
        each.made_at,
    )


def _words(rule: Rule) -> str:
    """A rule as a person reads it."""
    where, part = rule.locator, rule.part
    match where:
        case Css():
            said = f"{where.selector} @{where.attribute}" if where.attribute else where.selector
        case Label():
            said = _BESIDE[where.how].format(where.key)
        case Data():
            said = f"{where.source} {where.path}"
        case _:
            said = f"/{where.expression}/ after {where.after!r}" if where.after else f"/{where.expression}/"
    around = f", between {part.before!r} and {part.after!r}" if part.before or part.after else ""
    return f"{said}{around}"
