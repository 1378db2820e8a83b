"""The rules by which an offer is scored: a YAML file that a project may replace by its own, read and checked
whole. A mistake is named with its file, its line, its key and what to write instead.

Values are read as texts and only then as numbers: plain YAML reads the negation word `no` as false. Points
are whole hundredths from here on, so that sums are exact.
"""

import hashlib
import re
import reprlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, NoReturn

import orjson
import yaml

from thresher.apps.queries.signals.words import plain_words
from thresher.core.errors import ConfigError

FILE = "signals.yaml"  # in the project's folder
SHIPPED = Path(__file__).with_name("rules.yaml")

MAX_TEXT = 200_000  # characters of a rule file
MAX_DEPTH = 10
MAX_POINTS = 100
MAX_SCALE = 100
MAX_ITEMS = 500  # of any list
MAX_PATTERNS = 5_000  # keywords and phrases together
MAX_WORDS = 8  # of one keyword or phrase
MIN_PREFIX = 3  # letters in front of a star
MAX_REACH = 50  # words

# Raised when the same rules would score the same text differently: then all offers are scored again.
SCORING = 1

FIELDS = ("title", "description")
_KEYS = (
    "purpose",
    "scale",
    "fields",
    "tiers",
    "negation",
    "buckets",
    "core",
    "synergies",
    "categories",
    "phrases",
    "resolutions",
)
_NAME = re.compile(r"[a-z][a-z0-9_]{0,59}")
_RESOLUTION = re.compile(r"[A-Z][A-Z0-9_]{0,39}")
_NUMBER = re.compile(r"[0-9]{1,3}(?:\.[0-9]{1,2})?")
_LOADER = getattr(yaml, "CBaseLoader", yaml.BaseLoader)

Pattern = tuple[str, ...]  # words as compared; a word that ends in * stands for all that begin so
Place = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Bucket:
    """Categories and phrases that count together, up to `cap`."""

    id: str
    cap: int


@dataclass(frozen=True, slots=True)
class Category:
    """A theme. However often its keywords occur, it counts once, where it counts most."""

    id: str
    title: str
    bucket: str
    points: int
    keywords: tuple[Pattern, ...]


@dataclass(frozen=True, slots=True)
class Phrase:
    """Words that say much together. Each counts once."""

    text: str
    bucket: str
    points: int
    words: Pattern


@dataclass(frozen=True, slots=True)
class Synergy:
    """Points for an offer that has something in every one of these buckets."""

    id: str
    points: int
    buckets: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Core:
    """What the search is about: `min` points of `bucket`, before its cap. Without them no synergy counts, and
    the score stays at or below `cap_without`.
    """

    bucket: str
    min: int
    cap_without: int


@dataclass(frozen=True, slots=True)
class Negation:
    """Words that cancel a hit: up to `before` words in front of it or `after` words behind it, in the same
    sentence. `exceptions` begin like a negation and are none: "not only".
    """

    words: tuple[Pattern, ...] = ()
    before: int = 8
    after: int = 2
    exceptions: tuple[Pattern, ...] = ()


@dataclass(frozen=True, slots=True)
class Resolutions:
    """What a person may decide about a company. A resolved one is left alone from then on."""

    active: tuple[str, ...] = ("PENDING", "IN_PROGRESS", "HIGH_INTEREST")
    resolved: tuple[str, ...] = ("ALREADY_CUSTOMER", "ACCEPTED", "REJECTED")


PENDING = "PENDING"  # how a company begins
RESOLUTIONS = Resolutions()


@dataclass(frozen=True, slots=True)
class Rules:
    """All of a rule file. Points are hundredths, `scale` and `strong` whole points, multipliers hundredths.

    `print` is that of everything that a score depends on: offers with another one are scored again.
    """

    scale: int
    strong: int
    title: int
    description: int
    buckets: tuple[Bucket, ...]
    categories: tuple[Category, ...]
    phrases: tuple[Phrase, ...] = ()
    synergies: tuple[Synergy, ...] = ()
    max_synergies: int = 0
    core: Core | None = None
    negation: Negation = field(default_factory=Negation)
    resolutions: Resolutions = RESOLUTIONS
    purpose: str = ""
    print: str = ""

    def __hash__(self) -> int:
        return hash(self.print)


def project_rules(folder: Path | None) -> Rules:
    """The project's own rules (`signals.yaml` beside `thresher.yaml`), else those that come with us."""
    own = folder / FILE if folder else None
    file, name = (own, FILE) if own and own.exists() else (SHIPPED, "rules.yaml")
    try:
        text = file.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        raise ConfigError(f"{name} cannot be read: {problem}") from None
    return read_rules(text, name)


def read_rules(text: str, file: str) -> Rules:
    """The rules in the text of a file. Raises ConfigError."""
    if len(text) > MAX_TEXT:
        raise ConfigError(f"{file} has {len(text):,} characters; the limit for a rule file is {MAX_TEXT:,}")
    lines: dict[Place, int] = {}
    try:
        root = _composed(text)
        return _rules(_plain(root, (), lines) if root else None)
    except yaml.YAMLError as problem:
        mark = getattr(problem, "problem_mark", None)
        where = f"{file}, line {mark.line + 1}" if mark else file
        said = " ".join(str(getattr(problem, "problem", None) or problem).split())
        raise ConfigError(f"{where}: not YAML: {said}") from None
    except _Mistake as mistake:
        line = mistake.line or _line(lines, mistake.place)
        place = f"{file}, line {line}" if line else file
        raise ConfigError(": ".join(filter(None, (place, _written(mistake.place), mistake.advice)))) from None


@lru_cache(8)
def parsed_rules(text: str | None) -> Rules:
    """The rules in the text of the project's file; without one, those that come with us."""
    return project_rules(None) if text is None else read_rules(text, FILE)


class _Mistake(Exception):
    """Something is wrong at a place of the file."""

    def __init__(self, place: Place, advice: str, line: int | None = None) -> None:
        self.place, self.advice, self.line = place, advice, line


def _wrong(place: Place, advice: str) -> NoReturn:
    raise _Mistake(place, advice)


def _written(place: Place) -> str:
    """categories[2].points, counted from 1 as people do."""
    parts = (f"[{step + 1}]" if isinstance(step, int) else f".{step}" for step in place)
    return "".join(parts).removeprefix(".")


def _line(lines: Mapping[Place, int], place: Place) -> int | None:
    while place and place not in lines:
        place = place[:-1]
    return lines.get(place)


# From YAML to texts, lists and mappings


def _composed(text: str) -> yaml.Node | None:
    """Refuse what a rule file never has before it is built: that could take time without end."""
    depth = 0
    for event in yaml.parse(text, Loader=_LOADER):
        if isinstance(event, yaml.AliasEvent):
            raise _Mistake((), f"has the alias *{event.anchor}; write the value out", _row(event))
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > MAX_DEPTH:
            raise _Mistake((), "is nested too deeply for a rule file", _row(event))
    node: yaml.Node | None = yaml.compose(text, Loader=_LOADER)
    return node


def _row(event: yaml.Event) -> int | None:
    return event.start_mark.line + 1 if event.start_mark else None


def _plain(node: yaml.Node, place: Place, lines: dict[Place, int]) -> Any:
    """The line of every key and item is noted on the way."""
    lines.setdefault(place, node.start_mark.line + 1)
    if isinstance(node, yaml.ScalarNode):
        return node.value
    if isinstance(node, yaml.SequenceNode):
        return [_plain(each, (*place, at), lines) for at, each in enumerate(node.value)]
    found: dict[str, Any] = {}
    for name, value in node.value:
        if not isinstance(name, yaml.ScalarNode):
            raise _Mistake(place, "has a key that is a list or a mapping", name.start_mark.line + 1)
        if name.value in found:
            raise _Mistake((*place, name.value), "appears twice; keep one", name.start_mark.line + 1)
        lines[(*place, name.value)] = name.start_mark.line + 1
        found[name.value] = _plain(value, (*place, name.value), lines)
    return found


# From texts to rules


def _rules(data: Any) -> Rules:
    given = _mapping(data, (), _KEYS, ("buckets", "categories"))
    scale, strong = _scale(given)
    title, description = _multipliers(given)
    buckets = _buckets(given["buckets"])
    known = tuple(bucket.id for bucket in buckets)
    category_tiers, phrase_tiers = _tiers(given.get("tiers", {}))
    categories = tuple(_categories(given["categories"], known, category_tiers))
    phrases = tuple(_phrases(given.get("phrases", []), known, phrase_tiers))
    _check_patterns(categories, phrases)
    max_synergies, synergies = _synergies(given.get("synergies", {}), known)
    found = Rules(
        scale=scale,
        strong=strong,
        title=title,
        description=description,
        buckets=buckets,
        categories=categories,
        phrases=phrases,
        synergies=synergies,
        max_synergies=max_synergies,
        core=_core(given["core"], known) if "core" in given else None,
        negation=_negation(given.get("negation", {})),
        resolutions=_resolutions(given.get("resolutions", {})),
        purpose=_text(given.get("purpose", ""), ("purpose",), empty=True),
    )
    return _printed(found)


def _printed(rules: Rules) -> Rules:
    said = asdict(rules)
    for name in ("print", "purpose", "resolutions"):  # no score depends on them
        del said[name]
    digest = hashlib.sha256(orjson.dumps([SCORING, said], option=orjson.OPT_SORT_KEYS)).hexdigest()
    object.__setattr__(rules, "print", digest[:16])
    return rules


def _scale(given: Mapping[str, Any]) -> tuple[int, int]:
    scale = _mapping(given.get("scale", {}), ("scale",), ("max", "strong"))
    most = _whole(scale.get("max", "10"), ("scale", "max"), 1, MAX_SCALE)
    return most, _whole(scale.get("strong", str(max(1, most * 6 // 10))), ("scale", "strong"), 1, most)


def _multipliers(given: Mapping[str, Any]) -> tuple[int, int]:
    fields = _mapping(given.get("fields", {}), ("fields",), FIELDS)
    title, description = (_points(fields.get(name, "1"), ("fields", name)) for name in FIELDS)
    return title, description


def _buckets(data: Any) -> tuple[Bucket, ...]:
    given = _mapping(data, ("buckets",))
    if not given:
        _wrong(("buckets",), "is empty; write at least one bucket with its cap, such as direct_fx: 7")
    return tuple(
        Bucket(_name(name, ("buckets", name)), _points(cap, ("buckets", name))) for name, cap in given.items()
    )


def _tiers(data: Any) -> tuple[dict[str, int], dict[str, int]]:
    given = _mapping(data, ("tiers",), ("category", "phrase"))
    found = []
    for kind in ("category", "phrase"):
        place = ("tiers", kind)
        tiers = _mapping(given.get(kind, {}), place)
        found.append(
            {_name(name, (*place, name)): _points(value, (*place, name)) for name, value in tiers.items()}
        )
    return found[0], found[1]


def _categories(data: Any, buckets: Sequence[str], tiers: Mapping[str, int]) -> Iterator[Category]:
    seen: set[str] = set()
    if not data:
        _wrong(("categories",), "is empty; without a category nothing can be found")
    for place, item in _items(data, ("categories",)):
        keys = ("id", "title", "bucket", "tier", "points", "keywords")
        given = _mapping(item, place, keys, ("id", "bucket", "keywords"))
        name = _name(given["id"], (*place, "id"))
        if name in seen:
            _wrong((*place, "id"), f"{name!r} is the id of another category; ids must differ")
        seen.add(name)
        yield Category(
            name,
            _text(given.get("title", name), (*place, "title")),
            _one_of(given["bucket"], buckets, (*place, "bucket"), "bucket"),
            _worth(given, place, tiers, "tiers.category"),
            _patterns(given["keywords"], (*place, "keywords")),
        )


def _phrases(data: Any, buckets: Sequence[str], tiers: Mapping[str, int]) -> Iterator[Phrase]:
    seen: set[Pattern] = set()
    for place, item in _items(data, ("phrases",)):
        keys = ("bucket", "tier", "points", "phrases")
        given = _mapping(item, place, keys, ("bucket", "phrases"))
        bucket = _one_of(given["bucket"], buckets, (*place, "bucket"), "bucket")
        points = _worth(given, place, tiers, "tiers.phrase")
        for where, text in _items(given["phrases"], (*place, "phrases")):
            words = _pattern(text, where)
            if words in seen:
                _wrong(where, f"{_shown(text)} stands in the file already; a phrase counts once")
            seen.add(words)
            yield Phrase(" ".join(words), bucket, points, words)


def _worth(given: Mapping[str, Any], place: Place, tiers: Mapping[str, int], where: str) -> int:
    if ("tier" in given) == ("points" in given):
        _wrong(place, f"needs a tier (a name of {where}) or points, and not both")
    if "points" in given:
        return _points(given["points"], (*place, "points"))
    return tiers[_one_of(given["tier"], tuple(tiers), (*place, "tier"), f"tier of {where}")]


def _synergies(data: Any, buckets: Sequence[str]) -> tuple[int, tuple[Synergy, ...]]:
    given = _mapping(data, ("synergies",), ("max", "of"))
    found: list[Synergy] = []
    for place, item in _items(given.get("of", []), ("synergies", "of")):
        said = _mapping(item, place, ("id", "points", "buckets"), ("id", "points", "buckets"))
        name = _name(said["id"], (*place, "id"))
        if any(each.id == name for each in found):
            _wrong((*place, "id"), f"{name!r} is the id of another synergy; ids must differ")
        named = tuple(
            _one_of(each, buckets, where, "bucket")
            for where, each in _items(said["buckets"], (*place, "buckets"))
        )
        if not named:
            _wrong((*place, "buckets"), "is empty; name the buckets that must occur together")
        found.append(Synergy(name, _points(said["points"], (*place, "points")), named))
    most = given.get("max")
    return _points(most, ("synergies", "max")) if most is not None else sum(
        each.points for each in found
    ), tuple(found)


def _core(data: Any, buckets: Sequence[str]) -> Core:
    keys = ("bucket", "min", "cap_without")
    given = _mapping(data, ("core",), keys, keys)
    return Core(
        _one_of(given["bucket"], buckets, ("core", "bucket"), "bucket"),
        _points(given["min"], ("core", "min")),
        _points(given["cap_without"], ("core", "cap_without"), zero=True),
    )


def _negation(data: Any) -> Negation:
    given = _mapping(data, ("negation",), ("words", "before", "after", "exceptions"))
    words = _patterns(given.get("words", []), ("negation", "words"), empty=True)
    exceptions = _patterns(given.get("exceptions", []), ("negation", "exceptions"), empty=True)
    for at, each in enumerate(exceptions):
        if not any(_has(each, word) for word in words):
            _wrong(
                ("negation", "exceptions", at),
                f"{' '.join(each)!r} has no negation word in it, so it excepts nothing",
            )
    return Negation(
        words,
        _whole(given.get("before", "8"), ("negation", "before"), 0, MAX_REACH),
        _whole(given.get("after", "2"), ("negation", "after"), 0, MAX_REACH),
        exceptions,
    )


def _has(whole: Pattern, part: Pattern) -> bool:
    return any(whole[at : at + len(part)] == part for at in range(len(whole) - len(part) + 1))


def _resolutions(data: Any) -> Resolutions:
    given = _mapping(data, ("resolutions",), ("active", "resolved"))
    found: dict[str, tuple[str, ...]] = {}
    for name in ("active", "resolved"):
        if name not in given:
            found[name] = getattr(RESOLUTIONS, name)
            continue
        place: Place = ("resolutions", name)
        found[name] = tuple(_resolution(each, where) for where, each in _items(given[name], place))
    if PENDING not in found["active"]:
        _wrong(("resolutions", "active"), f"lacks {PENDING}, with which every company begins; add it")
    if twice := [each for each in found["active"] if each in found["resolved"]]:
        _wrong(("resolutions",), f"{twice[0]} is both active and resolved; keep it in one of the lists")
    return Resolutions(**found)


def _resolution(text: Any, place: Place) -> str:
    if not isinstance(text, str) or not _RESOLUTION.fullmatch(text):
        _wrong(place, f"{_shown(text)} is not a resolution; write capital letters, such as HIGH_INTEREST")
    return text


def _check_patterns(categories: Sequence[Category], phrases: Sequence[Phrase]) -> None:
    number = sum(len(each.keywords) for each in categories) + len(phrases)
    if number > MAX_PATTERNS:
        _wrong((), f"has {number:,} keywords and phrases; the limit is {MAX_PATTERNS:,}")


def _patterns(data: Any, place: Place, *, empty: bool = False) -> tuple[Pattern, ...]:
    found: list[Pattern] = []
    for where, text in _items(data, place):
        words = _pattern(text, where)
        if words in found:
            _wrong(where, f"{_shown(text)} is in this list already; case and accents make no difference")
        found.append(words)
    if not found and not empty:
        _wrong(place, "is empty; write at least one")
    return tuple(found)


def _pattern(text: Any, place: Place) -> Pattern:
    said = _text(text, place)
    words = tuple(_starred(word, place) for part in said.split() for word in _parts(part))
    if not words:
        _wrong(place, f"{_shown(text)} has no word in it")
    if len(words) > MAX_WORDS:
        _wrong(place, f"{_shown(text)} has {len(words)} words; the limit is {MAX_WORDS}")
    return words


def _parts(part: str) -> list[str]:
    """The words of what stands between two spaces; a star at its end belongs to the last one."""
    words = list(plain_words(part))
    if words and part.endswith("*"):
        words[-1] += "*"
    return words


def _starred(word: str, place: Place) -> str:
    if word.endswith("*") and len(word) <= MIN_PREFIX:
        _wrong(place, f"{word!r} would match too much; write at least {MIN_PREFIX} letters before the star")
    return word


def _items(data: Any, place: Place) -> Iterator[tuple[Place, Any]]:
    if not isinstance(data, list):
        _wrong(place, f"must be a list, got {_shown(data)}; write [one, two] or lines that begin with a dash")
    if len(data) > MAX_ITEMS:
        _wrong(place, f"has {len(data):,} items; the limit is {MAX_ITEMS}")
    return (((*place, at), each) for at, each in enumerate(data))


def _mapping(
    data: Any, place: Place, keys: Sequence[str] | None = None, needed: Sequence[str] = ()
) -> dict[str, Any]:
    if not isinstance(data, dict):
        _wrong(place, f"must be a mapping of keys to values, got {_shown(data)}")
    if keys is not None and (unknown := [key for key in data if key not in keys]):
        _wrong((*place, unknown[0]), f"unknown key; the keys here are {', '.join(keys)}")
    if missing := [key for key in needed if key not in data]:
        _wrong(place, f"{missing[0]} is missing; write {missing[0]}: ...")
    return data


def _one_of(text: Any, allowed: Sequence[str], place: Place, what: str) -> str:
    if text not in allowed:
        _wrong(place, f"{_shown(text)} is no {what}; the file has {', '.join(allowed) or 'none'}")
    return str(text)


def _name(text: Any, place: Place) -> str:
    if not isinstance(text, str) or not _NAME.fullmatch(text):
        _wrong(place, f"{_shown(text)} is not a valid id; use a-z, 0-9 and _, and begin with a letter")
    return text


def _text(text: Any, place: Place, *, empty: bool = False) -> str:
    if not isinstance(text, str) or not (text.strip() or empty) or len(text) > 1_000:
        _wrong(place, f"must be a text of at most 1,000 characters, got {_shown(text)}")
    return " ".join(text.split())


def _points(text: Any, place: Place, *, zero: bool = False) -> int:
    """Hundredths."""
    if not isinstance(text, str) or not _NUMBER.fullmatch(text):
        _wrong(place, f"{_shown(text)} is not a number such as 2, 2.5 or 0.75 (at most two decimals)")
    whole, _, part = text.partition(".")
    found = 100 * int(whole) + int(part.ljust(2, "0") or 0)
    if found > 100 * MAX_POINTS or (not found and not zero):
        _wrong(place, f"{text} must be {'at least' if zero else 'more than'} 0 and at most {MAX_POINTS}")
    return found


def _whole(text: Any, place: Place, low: int, high: int) -> int:
    if not isinstance(text, str) or not text.isascii() or not text.isdecimal() or len(text) > 6:
        _wrong(place, f"{_shown(text)} is not a whole number")
    if not low <= int(text) <= high:
        _wrong(place, f"{text} must be from {low} to {high}")
    return int(text)


def _shown(value: Any) -> str:
    return reprlib.repr(value) if value != "" else "nothing"
