"""Read the first sheet of a workbook (XLSX) as rows of text, whichever program has saved it.

The file may be anything: what it unpacks to is bounded, and entities of its own are refused.
"""

import io
import re
import zipfile
from collections.abc import Callable, Mapping
from xml.parsers import expat

MAX_PART = 64 * 1024 * 1024  # bytes of one part, unpacked
MAX_COLUMNS, MAX_ROWS = 200, 1_048_576
_SHARED, _BOOK, _LINKS = "xl/sharedStrings.xml", "xl/workbook.xml", "xl/_rels/workbook.xml.rels"
_FIRST = "xl/worksheets/sheet1.xml"
_REFERENCE = re.compile(r"([A-Z]{1,3})([0-9]{1,7})")

Attributes = Mapping[str, str]


def read_workbook(body: bytes) -> list[list[str]]:
    """The rows of the first sheet. Raises `ValueError` with the reason why there are none."""
    try:
        with zipfile.ZipFile(io.BytesIO(body)) as book:
            names = set(book.namelist())
            shared = _Strings.of(_part(book, _SHARED)) if _SHARED in names else []
            name = _first_sheet(book, names)
            return _Rows.of(_part(book, name), shared)
    except (zipfile.BadZipFile, zipfile.LargeZipFile, KeyError, NotImplementedError, RuntimeError, EOFError):
        raise ValueError("it is not a workbook") from None
    except expat.ExpatError as problem:
        raise ValueError(f"the workbook is damaged: {expat.ErrorString(problem.code)}") from None


def _part(book: zipfile.ZipFile, name: str) -> bytes:
    with book.open(name) as part:
        found = part.read(MAX_PART + 1)
    if len(found) > MAX_PART:
        raise ValueError(f"the workbook is too large: {name} unpacks to more than {MAX_PART:,} bytes")
    return found


def _first_sheet(book: zipfile.ZipFile, names: set[str]) -> str:
    """The part with the first sheet: the one that the list of sheets begins with."""
    if _BOOK not in names or _LINKS not in names:
        return _FIRST
    sheets: list[str] = []
    targets: dict[str, str] = {}

    def sheet(name: str, attributes: Attributes) -> None:
        if name == "sheet":
            sheets.extend(value for key, value in attributes.items() if _local(key) == "id")

    def link(name: str, attributes: Attributes) -> None:
        if name == "Relationship":
            targets[attributes.get("Id", "")] = attributes.get("Target", "")

    _parse(_part(book, _BOOK), sheet)
    _parse(_part(book, _LINKS), link)
    target = targets.get(sheets[0], "") if sheets else ""
    found = target.lstrip("/") if target.startswith("/") else f"xl/{target}"
    return found if found in names else _FIRST


def _parse(
    body: bytes,
    start: Callable[[str, Attributes], None],
    end: Callable[[str], None] = lambda _name: None,
    text: Callable[[str], None] = lambda _text: None,
) -> None:
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler = lambda name, attributes: start(_local(name), attributes)
    parser.EndElementHandler = lambda name: end(_local(name))
    parser.CharacterDataHandler = text
    parser.EntityDeclHandler = _refuse
    parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
    parser.Parse(body, True)


def _refuse(*_: object) -> None:
    raise ValueError("the workbook declares entities of its own, which are refused")


def _local(name: str) -> str:
    return name.rpartition(":")[2]


class _Strings:
    """The texts that cells refer to by number. How a text is pronounced (`rPh`) is not part of it."""

    def __init__(self) -> None:
        self.found: list[str] = []
        self._parts: list[str] = []
        self._in_text, self._phonetic = False, False

    @classmethod
    def of(cls, body: bytes) -> list[str]:
        reader = cls()
        _parse(body, reader.start, reader.end, reader.text)
        return reader.found

    def start(self, name: str, _attributes: Attributes) -> None:
        if name == "si":
            self._parts = []
        self._phonetic = self._phonetic or name == "rPh"
        self._in_text = name == "t" and not self._phonetic

    def end(self, name: str) -> None:
        self._in_text = False
        if name == "rPh":
            self._phonetic = False
        elif name == "si":
            self.found.append("".join(self._parts))

    def text(self, text: str) -> None:
        if self._in_text:
            self._parts.append(text)


class _Rows:
    """The cells of a sheet, each at its place: programs leave out what is empty."""

    def __init__(self, shared: list[str]) -> None:
        self.found: list[list[str]] = []
        self._shared = shared
        self._row: list[str] = []
        self._kind, self._place, self._wanted, self._parts = "", 0, False, list[str]()

    @classmethod
    def of(cls, body: bytes, shared: list[str]) -> list[list[str]]:
        reader = cls(shared)
        _parse(body, reader.start, reader.end, reader.text)
        return reader.found

    def start(self, name: str, attributes: Attributes) -> None:
        if name == "row":
            self._begin_row(attributes.get("r", ""))
        elif name == "c":
            self._kind, self._parts = attributes.get("t", "n"), []
            match = _REFERENCE.fullmatch(attributes.get("r", ""))
            self._place = _number(match[1]) if match else len(self._row)
        self._wanted = name in ("v", "t")

    def _begin_row(self, number: str) -> None:
        at = int(number) - 1 if number.isdecimal() else len(self.found)
        if at >= MAX_ROWS:
            raise ValueError(f"the sheet has a row {at + 1:,}; the limit is {MAX_ROWS:,}")
        self.found.extend([] for _ in range(at - len(self.found)))
        self._row = []

    def end(self, name: str) -> None:
        self._wanted = False
        if name == "c" and self._place < MAX_COLUMNS:
            self._row.extend("" for _ in range(self._place + 1 - len(self._row)))
            self._row[self._place] = self._value()
        elif name == "row":
            self.found.append(self._row)

    def text(self, text: str) -> None:
        if self._wanted:
            self._parts.append(text)

    def _value(self) -> str:
        text = "".join(self._parts)
        if self._kind == "s":
            return self._shared[int(text)] if text.isdecimal() and int(text) < len(self._shared) else ""
        if self._kind == "b":
            return "TRUE" if text == "1" else "FALSE"
        return text.removesuffix(".0") if self._kind == "n" else text


def _number(letters: str) -> int:
    found = 0
    for letter in letters:
        found = found * 26 + ord(letter) - ord("A") + 1
    return found - 1
