"""Items from what somebody wrote: a mapping of YAML or JSON, or the rows of a CSV file. Every mistake names
its key or column and says what to write.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from thresher.admin.file_rows import lines_of, read_objects, read_rows
from thresher.admin.times import NONE, seconds
from thresher.apps.prices.amounts import checked_currency
from thresher.apps.prices.kinds import MAX_VALUE, ItemKind, kind_named, kinds
from thresher.apps.prices.model import ItemSpec
from thresher.core.clock import DAY, MINUTE, to_us
from thresher.core.errors import UsageError
from thresher.core.keys import canonical_url
from thresher.reading.structured.checked_yaml import Mistake, Path, mapping_of, shown, written, wrong

KEYS = ("kind", "attributes", "include", "exclude", "currency", "urls", "sources", "refresh")
MAX_NAME = 200  # characters
MAX_WORDS = 50  # keywords, addresses or sources of one item
MAX_WORD = 100  # characters of a keyword
MAX_ITEMS = 100_000  # of one file
MAX_SLIPS = 20  # told one by one
MIN_REFRESH = MINUTE
MAX_REFRESH = 365 * DAY
BETWEEN = ";"  # stands between the values of one cell
EXAMPLE = (
    '{"name": "1921-D Morgan", "kind": "coin", "attributes": {"denomination": "dollar", "year": "1921"}}'
)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ItemWish:
    """An item as somebody says it. `refresh` is how often it is looked for, in microseconds; 0: as its age
    and its prices suggest.
    """

    spec: ItemSpec
    refresh: int = 0


@dataclass(frozen=True, slots=True)
class ItemSlip:
    """A line that cannot be used, and why."""

    line: int
    why: str


@dataclass(frozen=True, slots=True)
class ItemSheet:
    """The items of a file, the lines of it that cannot be used, and the columns that were left out."""

    wishes: tuple[ItemWish, ...]
    slips: tuple[ItemSlip, ...] = ()
    ignored: tuple[str, ...] = ()

    def whole(self, name: str) -> "ItemSheet":
        """The same, if every line can be used. Raises UsageError that names those that cannot."""
        if self.slips:
            told = "; ".join(f"{name}:{each.line}: {each.why}" for each in self.slips[:MAX_SLIPS])
            more = f"; and {len(self.slips) - MAX_SLIPS:,} more lines" if len(self.slips) > MAX_SLIPS else ""
            raise UsageError(
                f"{told}{more}. Nothing was added; fix the file, or use --skip-bad to add the other lines."
            )
        return self


def checked_item(name: str, said: Mapping[str, Any]) -> ItemWish:
    """One item, checked. Raises UsageError that names the key."""
    try:
        return item_of(name, said, ())
    except Mistake as mistake:
        place = written(mistake.path)
        raise UsageError(f"{place}: {mistake.advice}" if place else mistake.advice) from None


def item_of(name: object, said: Any, path: Path) -> ItemWish:
    """One item, checked. Raises Mistake with the place below `path`."""
    line = checked_name(name, path)
    said = mapping_of(said, KEYS, path)
    kind = _at((*path, "kind"), lambda: kind_named(_word(said.get("kind", "product"), (*path, "kind"))))
    currency = said.get("currency", "USD")
    return ItemWish(
        ItemSpec(
            line,
            kind.name,
            _attributes(kind, said.get("attributes") or {}, (*path, "attributes")),
            _words(said.get("include"), (*path, "include")),
            _words(said.get("exclude"), (*path, "exclude")),
            _at((*path, "currency"), lambda: checked_currency(_word(currency, (*path, "currency")))),
            _urls(said.get("urls"), (*path, "urls")),
            _words(said.get("sources"), (*path, "sources")),
        ),
        _at((*path, "refresh"), lambda: refresh_of(said.get("refresh"))),
    )


def checked_name(name: object, path: Path = ()) -> str:
    """The name of an item: one line of printable text. Raises Mistake."""
    if not isinstance(name, str):
        wrong(path, f"{shown(name)} is no name; write it in quotes")
    line = " ".join(name.split())
    if not line or len(line) > MAX_NAME or not line.isprintable():
        wrong(
            path,
            f"the name of an item must be one line of 1 to {MAX_NAME} printable characters, got {shown(name)}",
        )
    return line


def refresh_of(said: object) -> int:
    """How often an item is looked for, in microseconds; 0 for nothing, auto or none. Raises UsageError."""
    if (
        said is None
        or said == 0
        or (isinstance(said, str) and said.strip().lower() in ("", "0", "auto", *NONE))
    ):
        return 0
    if not isinstance(said, str) or len(said) > MAX_WORD:
        raise UsageError(f"must be a duration such as 12h or 7d, or auto, got {shown(said)}")
    lasts = seconds(said)
    if not MIN_REFRESH <= lasts * 1_000_000 <= MAX_REFRESH:
        raise UsageError(f"must be from 1m to 365d, or auto, got {said!r}")
    return to_us(lasts)


def _attributes(kind: ItemKind, said: Any, path: Path) -> dict[str, str]:
    if not isinstance(said, dict):
        wrong(path, f"{shown(said)} is no mapping; write names and values, such as {{{_example(kind)}}}")
    found = {}
    for name, value in said.items():
        place = (*path, str(name)[:MAX_WORD])
        attribute = kind.attribute(name) if isinstance(name, str) else None
        if attribute is None:
            known = ", ".join(each.name for each in kind.attributes)
            wrong(place, f"a {kind.name} has no such attribute; its attributes are {known}")
        text = _value(value, attribute.flag, place)
        if text.strip():
            found[name] = _at(place, partial(attribute.checked, text), f"{name}: ")
    return found


def _example(kind: ItemKind) -> str:
    return f"{(kind.required or (kind.attributes[0].name,))[0]}: ..."


def _value(value: Any, flag: bool, path: Path) -> str:
    match value:
        case None:
            return ""
        case bool() if flag:
            return "yes" if value else "no"
        case str():
            return _printable(value, path, MAX_VALUE)
        case int() if not isinstance(value, bool) and abs(value) < 10**18:
            return str(value)
    raise Mistake(path, f"{shown(value)} is no text; write it in quotes")


def _words(said: Any, path: Path) -> tuple[str, ...]:
    """Keywords, or the names of sources: a list of text, each once."""
    if said is None:
        return ()
    if not isinstance(said, list):
        wrong(path, f"{shown(said)} is no list; write [one, another]")
    if len(said) > MAX_WORDS:
        wrong(path, f"has {len(said):,} entries; the limit is {MAX_WORDS}")
    found = (_word(each, (*path, at)) for at, each in enumerate(said))
    return tuple(dict.fromkeys(each for each in found if each))


def _word(value: Any, path: Path) -> str:
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 10**18:
        return str(value)
    if not isinstance(value, str):
        wrong(path, f"{shown(value)} is no text; write it in quotes")
    return _printable(value, path, MAX_WORD)


def _printable(value: str, path: Path, most: int) -> str:
    line = " ".join(value.split())
    if len(line) > most:
        wrong(path, f"has {len(line):,} characters; the limit is {most}")
    if not line.isprintable():
        wrong(path, f"{shown(value)} has characters that cannot be printed; leave them out")
    return line


def _urls(said: Any, path: Path) -> tuple[str, ...]:
    if said is None:
        return ()
    if not isinstance(said, list) or not all(isinstance(each, str) for each in said):
        wrong(path, f"{shown(said)} is no list of addresses; write [https://shop.example/lamp]")
    if len(said) > MAX_WORDS:
        wrong(path, f"has {len(said):,} addresses; the limit is {MAX_WORDS}")
    found = (_url(each.strip(), (*path, at)) for at, each in enumerate(said) if each.strip())
    return tuple(dict.fromkeys(found))


def _url(text: str, path: Path) -> str:
    _at(path, lambda: canonical_url(text))
    if not text.isprintable() or not text.isascii():
        return _at(path, lambda: canonical_url(text))
    return text


def _at(path: Path, work: Callable[[], T], prefix: str = "") -> T:
    """Do it; what is wrong is wrong at this place. The place says the prefix already."""
    try:
        return work()
    except UsageError as problem:
        raise Mistake(path, str(problem).removeprefix(prefix)) from None


# Files


def read_item_sheet(text: str, name: str, *, ignore_unknown: bool = False) -> ItemSheet:
    """The items of a CSV file, or of a file with one JSON object a line. Lines that cannot be used are in
    `slips`. Raises UsageError for a file that cannot be read at all, and for unknown columns.
    """
    lines = lines_of(text, name)
    wishes: list[ItemWish] = []
    slips: list[ItemSlip] = []
    seen: dict[str, int] = {}
    ignored: list[str] | None = [] if ignore_unknown else None
    for line, row in _rows(lines, name, ignored):
        found = row if isinstance(row, str) else _wish(row)
        if isinstance(found, ItemWish) and (first := seen.setdefault(found.spec.name, line)) != line:
            found = f"{found.spec.name!r} was on line {first} already; write each item once"
        if isinstance(found, str):
            slips.append(ItemSlip(line, found))
        else:
            wishes.append(found)
        if len(wishes) > MAX_ITEMS:
            raise UsageError(f"{name} has more than {MAX_ITEMS:,} items; split it. Nothing was added.")
    if not wishes and not slips:
        raise UsageError(f"{name} has a header and no items. Nothing was added.")
    return ItemSheet(tuple(wishes), tuple(slips), tuple(dict.fromkeys(ignored or ())))


def columns() -> tuple[str, ...]:
    """The columns that a file of items may have: one for each attribute of each kind besides the others."""
    attributes = (attribute.name for kind in kinds().values() for attribute in kind.attributes)
    others = (each for each in KEYS if each != "attributes")
    return tuple(dict.fromkeys(("name", *others, *attributes)))


def _rows(
    lines: Sequence[str], name: str, ignored: list[str] | None
) -> Iterator[tuple[int, Mapping[str, Any] | str]]:
    first = next(line for line in lines if line.strip()).lstrip()
    if name.lower().endswith((".jsonl", ".ndjson")) or first.startswith("{"):
        yield from read_objects(lines, EXAMPLE)
        return
    for line, cells in read_rows(lines, name, columns(), ignored=ignored):
        yield line, cells if isinstance(cells, str) else _from_cells(cells)


def _from_cells(cells: Mapping[str, str]) -> dict[str, Any]:
    """A row as the mapping that it stands for. Empty cells say nothing."""
    said: dict[str, Any] = {"name": cells.get("name", ""), "attributes": {}}
    for column, cell in cells.items():
        text = cell.strip()
        if not text or column == "name":
            continue
        if column in ("include", "exclude", "urls", "sources"):
            said[column] = [each.strip() for each in text.split(BETWEEN) if each.strip()]
        elif column in KEYS:
            said[column] = text
        else:
            said["attributes"][column] = text
    return said


def _wish(row: Mapping[str, Any]) -> ItemWish | str:
    said = dict(row)
    try:
        return item_of(said.pop("name", ""), said, ())
    except Mistake as mistake:
        place = written(mistake.path).removeprefix("attributes.")
        return f"{place}: {mistake.advice}" if place else mistake.advice
