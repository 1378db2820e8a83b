"""An extractor as JSON and back, with a number for the format: what is stored today is read by the code of
next year.
"""

from collections.abc import Callable, Mapping
from dataclasses import astuple
from typing import Any

from thresher.core.errors import UsageError
from thresher.core.schema import Field, Kind, Schema
from thresher.core.stored import made
from thresher.learning.affix import Affix
from thresher.learning.distinction import Distinction
from thresher.learning.extractor import FORMAT, Extractor, FieldRules
from thresher.learning.frame import FAR_APART
from thresher.learning.landmark import Skeleton, Window
from thresher.learning.locator import Css, Data, How, Label, Line, Locator, Pattern, learned_selector
from thresher.learning.rule import Rule
from thresher.learning.shape import Shape


def to_json(extractor: Extractor) -> dict[str, Any]:
    """Plain JSON: mappings, lists, texts and numbers."""
    return {
        "format": FORMAT,
        "site": extractor.site,
        "version": extractor.version,
        "pages": extractor.pages,
        "row": extractor.row,
        "schema": _schema_out(extractor.schema),
        "digest": extractor.schema.digest,
        "score": round(extractor.score, 4),
        "skeleton": {"once": list(extractor.skeleton.once), "often": list(extractor.skeleton.often)},
        "fields": {name: _rules_out(each) for name, each in extractor.fields.items()},
        "unlearned": dict(extractor.unlearned),
    }


def from_json(data: Any) -> Extractor:
    """The extractor that was stored. A format that this code does not know, or a broken record, is an error
    that says so.
    """
    if not isinstance(data, Mapping) or data.get("format") != FORMAT:
        found = data.get("format") if isinstance(data, Mapping) else type(data).__name__
        raise UsageError(
            f"this is not an extractor of format {FORMAT} (found {found!r}): learn the site again, "
            "or upgrade Thresher"
        )
    try:
        return Extractor(
            site=str(data["site"]),
            schema=_schema_in(data["schema"]),
            fields={str(name): _rules_in(each) for name, each in data["fields"].items()},
            unlearned={str(name): str(why) for name, why in data["unlearned"].items()},
            skeleton=Skeleton(_texts(data["skeleton"]["once"]), _texts(data["skeleton"]["often"])),
            pages=int(data["pages"]),
            version=int(data["version"]),
            row=None if data["row"] is None else learned_selector(str(data["row"])),
        )
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as problem:
        raise UsageError(
            f"the stored extractor cannot be read ({type(problem).__name__}: {problem}): learn the site again"
        ) from problem


def _texts(values: Any) -> tuple[str, ...]:
    return tuple(str(value) for value in values)


def _schema_out(schema: Schema) -> dict[str, Any]:
    fields = [
        {
            "name": each.name,
            "kind": each.kind.value,
            "says": each.says,
            "required": each.required,
            "many": each.many,
            "choices": list(each.choices),
            "judged": each.judged,
        }
        for each in schema.fields
    ]
    return {"name": schema.name, "fields": fields, "many": schema.many, "key": list(schema.key)}


def _schema_in(data: Any) -> Schema:
    fields = tuple(
        made(Field, each | {"kind": Kind(each["kind"]), "choices": tuple(each["choices"])})
        for each in data["fields"]
    )
    return Schema(data["name"], fields, bool(data["many"]), tuple(data["key"]))


def _rules_out(rules: FieldRules) -> dict[str, Any]:
    shape = {name: _plain(getattr(rules.shape, name)) for name in Shape.__dataclass_fields__}
    return {
        "score": rules.score,
        "echo": rules.echo,
        "shape": shape,
        "rules": [_rule_out(rule) for rule in rules.rules],
    }


def _rules_in(data: Any) -> FieldRules:
    shape = data["shape"]
    texts = {name: frozenset(_texts(shape[name])) for name in ("always", "never", "usually", "looks")}
    return FieldRules(
        tuple(_rule_in(each) for each in data["rules"]),
        made(Shape, {**shape, **texts}),
        float(data["score"]),
        float(data["echo"]),
    )


def _plain(value: Any) -> Any:
    return sorted(value) if isinstance(value, frozenset) else value


def _rule_out(rule: Rule) -> dict[str, Any]:
    part, window = rule.part, rule.window
    return {
        "by": _locator_out(rule.locator),
        "part": None if part == Affix() else list(astuple(part)),
        "window": [window.before, list(window.before_gap), window.after, list(window.after_gap)],
        "around": [list(window.earlier), list(window.later)],
        "weight": round(rule.weight, 4),
        "tags": sorted(rule.tags),
        "single": rule.single,
        "ordered": rule.ordered,
        "told": [sorted(rule.told.features), sorted(rule.told.words)],
        "whole": rule.whole,
        "apart": rule.apart,
    }


def _rule_in(data: Any) -> Rule:
    before, before_gap, after, after_gap = data["window"]
    # What older releases did not write: the rule is then as careful as it was.
    earlier, later = data.get("around", ((), ()))
    features, words = data.get("told", ((), ()))
    return Rule(
        locator=_locator_in(data["by"]),
        part=Affix(*data["part"]) if data["part"] else Affix(),
        window=Window(
            str(before), _gap(before_gap), str(after), _gap(after_gap), _texts(earlier), _texts(later)
        ),
        weight=float(data["weight"]),
        tags=frozenset(_texts(data["tags"])),
        single=bool(data["single"]),
        ordered=bool(data["ordered"]),
        told=Distinction(frozenset(_texts(features)), frozenset(_texts(words))),
        whole=bool(data.get("whole", False)),
        apart=int(data.get("apart", FAR_APART)),
    )


def _gap(values: Any) -> tuple[int, int]:
    low, high = values
    return int(low), int(high)


def _locator_out(locator: Locator) -> list[Any]:
    match locator:
        case Css():
            return ["css", locator.selector, locator.attribute]
        case Line():
            return ["line", locator.selector, locator.number]
        case Label():
            return ["label", locator.key, locator.how.value]
        case Data():
            return ["data", locator.source, locator.path]
        case Pattern():
            return ["pattern", locator.expression, locator.after, locator.before]


_LOCATORS: Mapping[str, Callable[..., Locator]] = {
    "css": lambda selector, attribute: Css(learned_selector(str(selector)), str(attribute)),
    "line": lambda selector, number: Line(learned_selector(str(selector)), int(number)),
    "label": lambda key, how: Label(str(key), How(how)),
    "data": lambda source, path: Data(str(source), str(path)),
    "pattern": lambda expression, after, before: Pattern(str(expression), str(after), str(before)),
}


def _locator_in(data: Any) -> Locator:
    kind, *rest = data
    return _LOCATORS[kind](*rest)
