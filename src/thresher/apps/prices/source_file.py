"""Price sources from what somebody wrote, in YAML or JSON. Every mistake names its key and says what to
write.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson

from thresher.apps.prices.adapters.catalogue import CARRIED, HOME, checked_source, with_definition
from thresher.apps.prices.model import Adapter, RuleKind, SourceRule, SourceSpec
from thresher.core.errors import UsageError
from thresher.reading.structured.checked_yaml import (
    Mistake,
    choice_at,
    flag_at,
    list_at,
    mapping_of,
    shown,
    text_at,
    written,
    wrong,
)
from thresher.reading.structured.checked_yaml import Path as KeyPath

KEYS = ("adapter", "definition", "options", "tier", "reputation", "rate_per_minute", "cache_seconds", "rules")
RULE_KEYS = ("kind", "values", "priority", "active")
MAX_OPTIONS = 20_000  # bytes of JSON
MAX_RULES = 50
MAX_VALUES = 200
MAX_VALUE = 200  # characters
MAX_RATE = 60_000  # a minute
MAX_CACHE = 30 * 86_400  # seconds
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,59}", re.ASCII)

# What the app writes into the options of a source itself. Whoever else could would read any file of the
# machine, or send its secrets anywhere.
HIDDEN = (HOME, CARRIED)


def checked_source_of(
    name: str, said: Mapping[str, Any], folder: Path | None, known: SourceSpec | None = None
) -> SourceSpec:
    """One source, checked. Raises UsageError that names the key. See `source_of`."""
    try:
        return source_of(name, said, folder, (), known)
    except Mistake as mistake:
        place = written(mistake.path)
        raise UsageError(f"{place}: {mistake.advice}" if place else mistake.advice) from None


def source_of(
    name: object, said: Any, folder: Path | None, path: KeyPath, known: SourceSpec | None = None
) -> SourceSpec:
    """One source, checked. Files and definitions are looked for in the project's `folder`; without one only
    `known`, the source as it was, may have them. Raises Mistake with the place below `path`.
    """
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        wrong(
            path,
            f"{shown(name)} is no name of a source; write up to 60 small letters, digits, dots and hyphens, such "
            "as ebay-us",
        )
    said = mapping_of(said, KEYS, path)
    if "adapter" not in said:
        wrong((*path, "adapter"), f"is missing; write one of {', '.join(Adapter)}")
    found = SourceSpec(
        name,
        Adapter(choice_at(said, "adapter", tuple(Adapter), "", path)),
        text_at(said, "definition", path),
        _options(said.get("options"), (*path, "options")),
        _tier(said.get("tier", 5), (*path, "tier")),
        _reputation(said.get("reputation", 0.5), (*path, "reputation")),
        _whole(said.get("rate_per_minute", 60), 1, MAX_RATE, "null for no limit", (*path, "rate_per_minute")),
        _whole(
            said.get("cache_seconds"), 0, MAX_CACHE, "null for prices.cache_ttl", (*path, "cache_seconds")
        ),
        rules_of(said.get("rules"), (*path, "rules")),
    )
    try:
        found = _at_home(found, folder, known)
        checked_source(found, folder)
    except UsageError as problem:
        raise Mistake(path, str(problem)) from None
    return found


def _at_home(spec: SourceSpec, folder: Path | None, known: SourceSpec | None) -> SourceSpec:
    """The source with the folder of its file, and with the text of its definition."""
    kept = {name: known.options[name] for name in HIDDEN if name in known.options} if known else {}
    if spec.adapter is Adapter.CSV and "file" in spec.options:
        home = str(folder.resolve()) if folder is not None else kept.get(HOME)
        if home is None:
            raise UsageError(
                "options.file: a file of the project is named by the project file or by thresher prices sources; "
                "here, write the address of a file: url"
            )
        return replace(spec, options={**spec.options, HOME: home})
    if folder is not None:
        return with_definition(spec, folder)
    is_same = known is not None and known.definition == spec.definition and CARRIED in kept
    return replace(spec, options={**spec.options, CARRIED: kept[CARRIED]}) if is_same else spec


def rules_of(said: Any, path: KeyPath) -> tuple[SourceRule, ...]:
    """The rules of a source. Raises Mistake."""
    if said is None:
        return ()
    if not isinstance(said, list) or len(said) > MAX_RULES:
        wrong(
            path,
            f"must be a list of at most {MAX_RULES} rules, such as [{{kind: exclude_keywords, values: [replica]}}]",
        )
    return tuple(_rule(each, (*path, at)) for at, each in enumerate(said))


def _rule(said: Any, path: KeyPath) -> SourceRule:
    said = mapping_of(said, RULE_KEYS, path)
    if "kind" not in said:
        wrong((*path, "kind"), f"is missing; write one of {', '.join(RuleKind)}")
    kind = RuleKind(choice_at(said, "kind", tuple(RuleKind), "", path))
    values = list_at(said, "values", path)
    if not values or len(values) > MAX_VALUES:
        wrong((*path, "values"), f"must have 1 to {MAX_VALUES} entries, such as [{_EXAMPLES[kind]}]")
    texts = tuple(_rule_value(each, kind, (*path, "values", at)) for at, each in enumerate(values))
    priority = said.get("priority", 0)
    if type(priority) is not int or abs(priority) > 1_000_000:
        wrong((*path, "priority"), f"{shown(priority)} is wrong; write a whole number up to 1,000,000")
    return SourceRule(kind, texts, priority, flag_at(said, "active", True, path))


_EXAMPLES: Mapping[RuleKind, str] = {
    RuleKind.EXCLUDE_KEYWORDS: "replica",
    RuleKind.REQUIRE_KEYWORDS: "silver",
    RuleKind.ALLOWED_PATH: "/itm/",
    RuleKind.RATE_LIMIT_OVERRIDE: "30",
}


def _rule_value(value: Any, kind: RuleKind, path: KeyPath) -> str:
    text = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
    if not isinstance(text, str) or not text.strip() or len(text) > MAX_VALUE or not text.isprintable():
        wrong(
            path,
            f"{shown(value)} is wrong; write text of up to {MAX_VALUE} characters, such as {_EXAMPLES[kind]}",
        )
    text = " ".join(text.split())
    if kind is RuleKind.ALLOWED_PATH and not text.startswith("/"):
        wrong(path, f"{shown(value)} is no path; it begins with a slash, such as /itm/")
    if kind is RuleKind.RATE_LIMIT_OVERRIDE and not (
        text.isascii() and text.isdecimal() and len(text) < 7 and 1 <= int(text) <= MAX_RATE
    ):
        wrong(path, f"{shown(value)} is no rate; write a number of requests a minute from 1 to {MAX_RATE:,}")
    return text


def _options(said: Any, path: KeyPath) -> dict[str, Any]:
    if said is None:
        return {}
    if not isinstance(said, dict) or not all(isinstance(each, str) for each in said):
        wrong(path, f"{shown(said)} is no mapping; write names and values")
    for name in HIDDEN:
        if name in said:
            wrong((*path, name), "is written by Thresher itself; leave it out")
    try:
        size = len(orjson.dumps(said))
    except (TypeError, ValueError):  # a date, or half a character
        wrong(path, "has a value that JSON does not know, such as a date; write it in quotes")
    if size > MAX_OPTIONS:
        wrong(path, f"has {size:,} bytes; the limit is {MAX_OPTIONS:,}")
    return said


def _tier(said: Any, path: KeyPath) -> int:
    if type(said) is not int or not 1 <= said <= 10:
        wrong(path, f"{shown(said)} is wrong; write a whole number from 1, the best, to 10")
    return said


def _reputation(said: Any, path: KeyPath) -> float:
    if not isinstance(said, int | float) or isinstance(said, bool) or not 0 <= said <= 1:
        wrong(path, f"{shown(said)} is wrong; write a number from 0 to 1, such as 0.8")
    return float(said)


def _whole(said: Any, least: int, most: int, otherwise: str, path: KeyPath) -> int | None:
    if said is None:
        return None
    if type(said) is not int or not least <= said <= most:
        wrong(path, f"{shown(said)} is wrong; write a whole number from {least} to {most:,}, or {otherwise}")
    return said
