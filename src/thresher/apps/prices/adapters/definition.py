"""A marketplace described in a YAML file: how the text of a query is made of an item, which requests list
what was sold and what is asked for, and where in the answers everything stands.

The file is read and checked whole, and a mistake is named with its line. What changes from request to request
stands in braces: `{text}` of the item, its attributes and the parameters of the source by their names, and
`{page}`, `{offset}`, `{cursor}` and `{size}` of the list.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from thresher.apps.prices.kinds import NO, kinds
from thresher.apps.prices.model import Item, PriceType
from thresher.reading.apis.definition import (
    ANSWER_KEYS,
    HOLE,
    Api,
    ApiAnswer,
    OAuth,
    Parameter,
    answer_of,
    auth_of,
    check_holes,
    oauth_of,
    paging_of,
    parameters_of,
    request_of,
    sentence_at,
)
from thresher.reading.platforms.platform_file import field_of
from thresher.reading.structured.checked_yaml import (
    Path,
    choice_at,
    flag_at,
    list_at,
    mapping_of,
    number_at,
    read_checked,
    shown,
    text_at,
    texts_at,
    wrong,
)

FIELDS = (
    "id",
    "title",
    "url",
    "amount",
    "currency",
    "high",
    "was",
    "shipping",
    "shipping_currency",
    "quantity",
    "per",
    "condition",
    "listed",
)
NEEDED = ("title", "amount")
TEXT = "text"
ANY = "any"  # the kind that stands for all that are not named
# What an item is looked for by, where nobody says otherwise.
USUAL: Mapping[str, tuple[str, ...]] = {
    "coin": ("{year}", "{mintmark}", "{series}", "{denomination}", "{variety}"),
    "product": ("{brand}", "{model}", "{variant}"),
    ANY: ("{name}",),
}
NONE = "none"  # how an attribute says that the thing has none: it is not looked for by it
_KEYS = ("name", "title", "terms", "parameters", "auth", "oauth", "text", "exclude", "max_text", "lists")
_LIST = ("price", "scope", "optional", "between", "request", "paging", "answer")
_PRICE = ("path", *PriceType)
_ANSWER = (*ANSWER_KEYS, "aspects", "pairs", "doubts")
_PAIRS = ("each", "name", "value")
_DOUBT = ("path", "is", "says")
_SIGNS = str.maketrans(dict.fromkeys('"“”()[]{}<>*,;|\\~^?!:', " "))
_NAME = re.compile(r"[a-z][a-z0-9_-]{0,39}")


@dataclass(frozen=True, slots=True)
class RowType:
    """What the price of a row is: the same for all, or what stands at `path` in one of these words."""

    fixed: PriceType | None = None
    path: str = ""
    words: Mapping[str, PriceType] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Pairs:
    """A list in which every entry has a name and a value: further aspects."""

    each: str
    name: str
    value: str


@dataclass(frozen=True, slots=True)
class RowDoubt:
    """What makes the amount of a row doubtful: something stands at a path, or one of these words."""

    path: str
    says: str
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ListingAnswer(ApiAnswer):
    """One shape of an answer with listings in it."""

    aspects: Mapping[str, Any] = field(default_factory=dict)
    pairs: tuple[Pairs, ...] = ()
    doubts: tuple[RowDoubt, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ListingApi(Api):
    """One list of a marketplace. Where `optional` access to it is refused, the next list is asked. `between`
    joins the words of a query.
    """

    list_name: str
    answers: tuple[ListingAnswer, ...]
    price: RowType
    optional: bool = False
    between: str = " "


@dataclass(frozen=True, slots=True)
class Marketplace:
    """Everything that one file says. `text` are the pieces of a query by the kind of the item; a piece whose
    holes cannot all be filled is left out. `exclude` is what is written in front of an excluded word; without
    it the marketplace cannot leave words out.
    """

    name: str
    title: str
    lists: tuple[ListingApi, ...]
    text: Mapping[str, tuple[str, ...]]
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    terms: str = ""
    exclude: str | None = None
    max_text: int = 200

    @property
    def env(self) -> tuple[str, ...]:
        """The environment variables that hold its secrets."""
        return tuple(dict.fromkeys(name for each in self.lists for name in each.env))

    def words(self, item: Item) -> tuple[str, ...]:
        """The words that this item is looked for by; none if too little of it is known."""
        return query_words(item, self.text.get(item.spec.kind, self.text.get(ANY, ())))

    def left_out(self, item: Item) -> tuple[str, ...]:
        """The words to leave out, as the marketplace writes them. Phrases it cannot leave out."""
        if self.exclude is None:
            return ()
        single = (_words([each]) for each in item.spec.exclude)
        return tuple(f"{self.exclude}{each[0]}" for each in single if len(each) == 1)


def query_words(item: Item, pieces: Sequence[str]) -> tuple[str, ...]:
    """The words of pieces filled in with what is known of an item, and its keywords; none if no piece can be
    filled.
    """
    said = attributes_of(item)
    words = _words([_filled(piece, said) for piece in pieces])
    return tuple(dict.fromkeys((*words, *_words(item.spec.include)))) if words else ()


def _words(texts: Iterable[str]) -> list[str]:
    """The words of texts, without the signs that a search may take for orders: quotes, brackets, stars,
    commas, and a minus in front.
    """
    plain = (each.translate(_SIGNS).split() for each in texts)
    return [word for words in plain for each in words if (word := each.lstrip("-+"))]


def attributes_of(item: Item) -> dict[str, str]:
    """What an item says of itself by name: flags that say no and attributes that say none are left out."""
    known = {name: value for name, value in item.spec.attributes.items() if value and value not in (NO, NONE)}
    return {"name": item.spec.name, **known}


def _filled(piece: str, said: Mapping[str, str]) -> str:
    if any(not said.get(hole) for hole in HOLE.findall(piece)):
        return ""
    return HOLE.sub(lambda hole: said[hole[1]], piece)


def attribute_names() -> frozenset[str]:
    """Every attribute of every kind, and the name."""
    return frozenset({"name", *(each.name for kind in kinds().values() for each in kind.attributes)})


def read_marketplace(text: str, file: str) -> Marketplace:
    """A marketplace from the text of its file. Raises ConfigError with the line of a mistake."""
    return read_checked(text, file, _marketplace)


def _marketplace(data: Any) -> Marketplace:
    data = mapping_of(data, _KEYS, ())
    name = data.get("name")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        wrong(("name",), f"{shown(name)} is not a valid name; write it with a-z, 0-9, - and _")
    parameters = parameters_of(data.get("parameters", {}), ("parameters",), (TEXT, *attribute_names()))
    oauth = oauth_of(data["oauth"], ("oauth",)) if "oauth" in data else None
    auth = auth_of(data.get("auth", []), ("auth",))
    lists = data.get("lists")
    if not isinstance(lists, dict) or not lists:
        wrong(("lists",), f"{shown(lists)} is wrong; write the lists by their names: {{sold: ..., ask: ...}}")
    made = tuple(_list(str(key), said, name, parameters, ("lists", key)) for key, said in lists.items())
    _check_lists(made, parameters, oauth)
    made = tuple(replace(each, auth=auth, oauth=_scoped(oauth, each)) for each in made)
    return Marketplace(
        name,
        text_at(data, "title") or name,
        made,
        _text(data.get("text"), ("text",)),
        parameters,
        sentence_at(data, "terms", ()),
        text_at(data, "exclude"),
        number_at(data, "max_text", ()) or 200,
    )


def _scoped(oauth: OAuth | None, each: ListingApi) -> OAuth | None:
    if oauth is None:
        return None
    return replace(oauth, scope=each.oauth.scope) if each.oauth and each.oauth.scope else oauth


def _text(data: Any, path: Path) -> Mapping[str, tuple[str, ...]]:
    if not isinstance(data, dict) or not data:
        wrong(path, f'{shown(data)} is wrong; write the pieces of a query by kind: {{any: ["{{name}}"]}}')
    made = {}
    for kind in data:
        if kind != ANY and kind not in kinds():
            wrong((*path, kind), f"{shown(kind)} is no kind of item; write {', '.join(kinds())} or {ANY}")
        pieces = tuple(map(str, list_at(data, kind, path)))
        known = (
            attribute_names() if kind == ANY else {"name", *(each.name for each in kinds()[kind].attributes)}
        )
        unknown = {hole for piece in pieces for hole in HOLE.findall(piece)} - known
        if unknown or not pieces:
            wrong(
                (*path, kind),
                f"nothing fills {{{min(unknown, default='')}}}; there are {', '.join(sorted(known))}",
            )
        made[str(kind)] = pieces
    return made


def _list(key: str, data: Any, name: str, parameters: Mapping[str, Parameter], path: Path) -> ListingApi:
    data = mapping_of(data, _LIST, path)
    if not _NAME.fullmatch(key):
        wrong(path, f"{shown(key)} is not a valid name; write it with a-z, 0-9, - and _")
    answers = data.get("answer")
    request = request_of(data.get("request"), (*path, "request"))
    scope = text_at(data, "scope", path) or ""
    made = ListingApi(
        name=name,
        list_name=key,
        request=request,
        answers=tuple(
            _answer(each, (*path, "answer", at) if isinstance(answers, list) else (*path, "answer"))
            for at, each in enumerate(answers if isinstance(answers, list) else [answers])
        ),
        parameters={each: parameters[each] for each in parameters if each in request.holes},
        paging=paging_of(data.get("paging", {}), (*path, "paging")),
        price=_price(data.get("price"), (*path, "price")),
        optional=flag_at(data, "optional", False, path),
        between=text_at(data, "between", path) or " ",
        oauth=OAuth("", "", "", scope) if scope else None,
    )
    check_holes(made, (TEXT, *attribute_names()), path)
    return made


def _check_lists(
    made: Sequence[ListingApi], parameters: Mapping[str, Parameter], oauth: OAuth | None
) -> None:
    """What no single list shows."""
    used = {name for each in made for name in each.parameters}
    for name in parameters:
        if name not in used:
            wrong(("parameters", name), f"{{{name}}} stands nowhere in a request")
    for at, each in enumerate(made):
        path = ("lists", each.list_name)
        if each.oauth is not None and oauth is None:
            wrong((*path, "scope"), "a scope is asked for where a token is; write oauth")
        if each.optional and at + 1 == len(made):
            wrong(
                (*path, "optional"), "the last list cannot be optional: nothing would be asked in its place"
            )
        if each.request.origin != made[0].request.origin:
            wrong((*path, "request", "url"), "all lists are asked for on the same host")
        if any(other.request.url == each.request.url for other in made[:at]):
            wrong((*path, "request", "url"), "another list has the same address; an answer could be either's")


def _price(data: Any, path: Path) -> RowType:
    if isinstance(data, str):
        return RowType(PriceType(choice_at({"price": data}, "price", tuple(PriceType), "", path[:-1])))
    data = mapping_of(data, _PRICE, path)
    where = text_at(data, "path", path)
    if not where:
        wrong(
            path,
            "write sold, ask or bid, or the path that says which: {path: state, sold: [SOLD], ask: [LIVE]}",
        )
    words = {
        str(word).casefold(): PriceType(kind) for kind in PriceType for word in list_at(data, kind, path)
    }
    if not words:
        wrong(path, "which words mean sold, and which ask?")
    return RowType(None, where, words)


def _answer(data: Any, path: Path) -> ListingAnswer:
    data = mapping_of(data, _ANSWER, path)
    aspects = data.get("aspects", {})
    if not isinstance(aspects, dict):
        wrong((*path, "aspects"), f"{shown(aspects)} is not a mapping; write {{year: item.year}}")
    for name, spec in aspects.items():
        field_of(spec, (*path, "aspects", name))
    made = answer_of(
        ListingAnswer,
        data,
        path,
        aspects={str(name): spec for name, spec in aspects.items()},
        pairs=tuple(
            _pairs(each, (*path, "pairs", at)) for at, each in enumerate(list_at(data, "pairs", path))
        ),
        doubts=tuple(
            _doubt(each, (*path, "doubts", at)) for at, each in enumerate(list_at(data, "doubts", path))
        ),
    )
    _check_fields(made.fields, path)
    return made


def _check_fields(fields: Iterable[str], path: Path) -> None:
    for name in fields:
        if name not in FIELDS:
            wrong((*path, "fields", name), f"{name} is not a known field; the fields are {', '.join(FIELDS)}")
    for name in NEEDED:
        if name not in fields:
            wrong((*path, "fields"), f"{name} is missing: where a row says its {name}")


def _pairs(data: Any, path: Path) -> Pairs:
    data = texts_at({"pairs": mapping_of(data, _PAIRS, path)}, "pairs", path[:-1])
    missing = [key for key in _PAIRS if not data.get(key)]
    if missing:
        wrong(path, f"{missing[0]} is missing; write {{each: specifics[], name: name, value: value}}")
    return Pairs(data["each"], data["name"], data["value"])


def _doubt(data: Any, path: Path) -> RowDoubt:
    data = mapping_of(data, _DOUBT, path)
    where, says = text_at(data, "path", path), sentence_at(data, "says", path)
    if not where or not says:
        wrong(
            path, "write the path and what it says about the price: {path: variants, says: it has variants}"
        )
    return RowDoubt(where, says, tuple(str(each).casefold() for each in list_at(data, "is", path)))
