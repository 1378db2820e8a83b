"""The links of a pager: directions and page numbers, in many languages, and which of them can be believed.

A number is believed in a row of numbers whose URLs count the same way. A direction is believed where its URL
is that of a page, or where it stands beside such numbers. Calendars, years, ratings and "show 12 24 48" are
rows of numbers too.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import islice, pairwise
from typing import Final
from urllib.parse import parse_qsl, urlsplit

from thresher.core.errors import InvalidUrl
from thresher.core.keys import canonical_url
from thresher.reading.html.document import Document
from thresher.reading.html.links import link_text
from thresher.reading.html.parser import Node

# The addresses of the pages of a list: which part of them counts, and whether two belong to one list.

_PARAMETERS: Final = re.compile(
    r"(?:.*[_.\[-])?(?:page|pages|paged|pg|pgn|p|pn|pgno|page_?no|page_?nr|page_?num|page_?number|page_?index|current_?page|seite|pagina|página|strona|stranka|sida|side|"
    r"start|offset|from|skip|begin|first|cursor|after|startrow|start_?index|startat|o|s|pp)\]?",
    re.IGNORECASE,
)
_CURSORS: Final = frozenset({"cursor", "after", "page_token", "pagetoken", "continuation", "next"})
_SIZES: Final = re.compile(
    r"(?:.*[_-])?(?:limit|per_?page|page_?size|size|show|rows|count|num|results?|display|n)", re.IGNORECASE
)
_WORD: Final = "page|pages|pag|pg|seite|pagina|página|strona|strana|stranka|sida|side|offset|start"
# A lone p with a slash behind it is a product as often as a page: /p/4711.
_SURE_PATH: Final = re.compile(
    rf"(?:^|[/_.-])(?:(?:{_WORD})[/_.=-]?|p[_=-]?)(\d{{1,6}})(?:$|[/_.;-])", re.IGNORECASE
)
_PATH: Final = re.compile(
    rf"{_SURE_PATH.pattern}|[/_-](\d{{1,4}})(?:/|\.html?|\.php|\.aspx?)?$", re.IGNORECASE
)
_HEADER: Final = re.compile(r"<([^<>]{1,4000})>\s{0,5};([^<]{0,500})")


@lru_cache(maxsize=4_096)
def comparable(url: str) -> str:
    """The address in its one spelling, as far as it has one."""
    try:
        return canonical_url(url)
    except InvalidUrl:
        return url


def is_paged(url: str) -> bool:
    """Whether an address says by itself that it is one page of several."""
    parts = _parts(url)
    if parts is None:
        return False
    path, query = parts
    if _SURE_PATH.search(path):
        return True
    return any(_counts(name, value) for name, value in query)


def _counts(name: str, value: str) -> bool:
    if not _PARAMETERS.fullmatch(name):
        return False
    if len(name) == 1:  # ?p=4711 is an article of a blog
        return value.isdecimal() and len(value) <= 3
    return (value.isdecimal() and len(value) <= 9) or (bool(value) and name.lower() in _CURSORS)


def same_list(one: str, other: str) -> bool:
    """Whether two addresses differ in numbers and in parameters of paging only."""
    return _skeleton(one) == _skeleton(other)


def numbered_alike(pairs: Sequence[tuple[int, str]], here: str) -> bool:
    """Whether each number stands for the address behind it: as the page itself, or as a count of entries.

    The number (or a multiple of it) must be what changes from one address to the next, in a place where no
    size of a page is given. The first page may have no number at all, and be the address of the list itself.
    """
    told = [(number, url) for number, url in pairs if tells(number, url)]
    rest = [url for number, url in pairs if not tells(number, url)]
    counting = _counting(told)
    skeletons = {_skeleton(url, counting) for _, url in told}
    near = len(rest) <= 1 or all(same_list(url, here) for url in rest)
    return bool(told) and near and len(skeletons) <= 2


def _counting(told: Sequence[tuple[int, str]]) -> frozenset[str]:
    """The names of parameters that count with the numbers, whatever they are called."""
    votes: Counter[str] = Counter()
    for number, url in told:
        _, query = _parts(url) or ("", [])
        votes.update({name for name, value in query if value in (str(number), str(number - 1))})
    return frozenset(name for name, count in votes.items() if count > 1 and count * 5 >= 4 * len(told))


def jumps(url: str, number: int, pairs: Sequence[tuple[int, str]]) -> bool:
    """Whether an address is that of a page far behind this number, by how the numbers of a pager count."""
    counting = _counting(pairs)
    if not counting:
        return False
    known = {_value_of(each, counting) for wanted, each in pairs if wanted == number}
    value = _value_of(url, counting)
    return None not in known and value is not None and any(value > (each or 0) + 1 for each in known)


def _value_of(url: str, names: frozenset[str]) -> int | None:
    _, query = _parts(url) or ("", [])
    found = (int(value) for name, value in query if name in names and value.isdecimal() and len(value) < 8)
    return next(found, None)


def from_header(header: str, names: Iterable[str]) -> list[str]:
    """Addresses of a `Link` header with one of these relations."""
    wanted = set(names)
    found = []
    for match in _HEADER.finditer(header[:20_000]):
        rel = re.search(r"\brel\s?=\s?\"?([\w \-]{1,100})", match[2], re.IGNORECASE)
        if rel is not None and not wanted.isdisjoint(rel[1].lower().split()):
            found.append(match[1].strip())
    return found


def tells(number: int, url: str) -> bool:
    """Whether an address may be that of a page of this number."""
    parts = _parts(url)
    if parts is None:
        return False
    path, query = parts
    values = [
        int(value)
        for name, value in query
        if value.isdecimal() and len(value) < 8 and _PARAMETERS.fullmatch(name)
    ]
    if not values:
        values = [
            int(value)
            for name, value in query
            if value.isdecimal() and len(value) < 8 and not _SIZES.fullmatch(name)
        ]
    values += [int(match[1] or match[2]) for match in _PATH.finditer(path)]
    counted = any(
        number > 1 and value and value % (number - 1) == 0 and value // (number - 1) >= 2 for value in values
    )
    return any(value in (number, number - 1) for value in values) or counted


@lru_cache(maxsize=4_096)
def _skeleton(url: str, counting: frozenset[str] = frozenset()) -> str:
    parts = _parts(url)
    if parts is None:
        return url
    path, query = parts
    bare = re.sub(r"/{2,}", "/", _SURE_PATH.sub("/", path))
    bare = re.sub(r"\d+", "0", bare).rstrip("/-_.").lower()
    kept = sorted(
        f"{name}={value}" for name, value in query if not _PARAMETERS.fullmatch(name) and name not in counting
    )
    return f"{urlsplit(url).netloc.removeprefix('www.')}{bare.removesuffix('/index.php')}?{'&'.join(kept)}"


def _parts(url: str) -> tuple[str, list[tuple[str, str]]] | None:
    try:
        split = urlsplit(url)
        return split.path, parse_qsl(split.query, keep_blank_values=True, max_num_fields=200)
    except ValueError:
        return None


# Words and signs for "next", "previous", "first", "last" and "more".

_WORDS: Final = {
    "next": """
        next|next page|more|older|older posts|older entries|older articles|weiter|nächste|nächste seite|vor|vorwärts|suivant|
        suivante|suivants|page suivante|siguiente|siguientes|página siguiente|próximo|próxima|próxima página|proximo|proxima|
        seguinte|próximos|successivo|successiva|pagina successiva|avanti|volgende|volgende pagina|verder|nästa|nästa sida|næste|
        neste|seuraava|następna|następny|następne|następna strona|dalej|další|další stránka|následující|ďalšia|ďalej|következő|
        următoarea|următorul|înainte|sonraki|sonraki sayfa|ileri|следующая|следующая страница|следующий|далее|дальше|вперед|вперёд|
        наступна|далі|επόμενη|επόμενο|次へ|次|次のページ|下一页|下一頁|下页|다음|tiếp|sau|trang sau|selanjutnya|berikutnya|التالي|
        הבא|sljedeća|naslednja|nākamā|järgmine|kitas|далі|следующие|seguente|siguiente página|próximas|pagina următoare|tovább|następne wyniki|
        weitere|weitere ergebnisse|nächste ergebnisse|次ページ|次の|后页|后一页|下一个|다음 페이지|다음페이지|ถัดไป|trang kế|kế tiếp|tiếp theo|berikut|seterusnya|بعدی|التالى|अगला|older jobs|
        show next|next step|load next|forward|sledeća|напред|следваща|go to next page|to next page|next results|more results
    """,
    "prev": """
        previous|prev|previous page|newer|newer posts|newer entries|newer articles|zurück|vorherige|vorherige seite|précédent|
        précédente|précédents|page précédente|anterior|anteriores|página anterior|precedente|pagina precedente|indietro|vorige|
        vorige pagina|föregående|föregående sida|forrige|edellinen|poprzednia|poprzedni|poprzednia strona|wstecz|předchozí|
        předchozí stránka|predchádzajúca|előző|anterioara|anterioară|înapoi|önceki|önceki sayfa|geri|предыдущая|предыдущая страница|
        предыдущий|назад|попередня|προηγούμενη|前へ|前|前のページ|上一页|上一頁|上页|이전|trước|trang trước|sebelumnya|السابق|הקודם|
        prethodna|prejšnja|iepriekšējā|eelmine|предыдущие|precedenti|前ページ|前の|上一个|이전 페이지|ก่อนหน้า|sebelum|قبلی|पिछला|newer jobs|back|backward|назад|go to previous page|to previous page|previous results
    """,
    "first": """
        first|first page|start|erste|erste seite|anfang|première|premier|primera|primero|inicio|primeira|primeiro|prima|primo|
        inizio|eerste|första|første|pierwsza|první|первая|в начало|перша|首页|首頁|最初|처음|ilk|go to first page|к первой
    """,
    "last": """
        last|last page|end|letzte|letzte seite|ende|dernière|dernier|última|último|fin|ultima|ultimo|fine|laatste|sista|sidste|
        siste|ostatnia|poslední|последняя|в конец|остання|末页|尾页|最后|最後|마지막|son|go to last page|к последней
    """,
}
DIRECTIONS: Final[dict[str, str]] = {
    " ".join(word.split()): way
    for way, words in _WORDS.items()
    for word in words.replace("\n", " ").split("|")
    if word.strip()
}
_SIGNS: Final = {
    "next": ("›", "»", ">", "→", "▶", "►", "▸", "⟩", "❯", "⇒", "➔", "➜", "➤", "⟶", "-->", "->", "=>"),
    "prev": ("‹", "«", "<", "←", "◀", "◄", "◂", "⟨", "❮", "⇐", "⟵", "<--", "<-", "<="),
    "last": (">>", "»»", "››", ">|", "»|", "⏭", "⇥", ">>|"),
    "first": ("<<", "««", "‹‹", "|<", "|«", "⏮", "⇤", "|<<"),
}
SIGNS: Final[dict[str, str]] = {sign: way for way, signs in _SIGNS.items() for sign in signs}
_ARROWS: Final = (
    "".join({char for sign in (*_SIGNS["next"], *_SIGNS["prev"]) for char in sign}) + "|·-–—. …[]()"
)
_CLASSES: Final = re.compile(
    r"(?:^|[\s_-])(next|prev|previous|first|last)(?=$|[\s_-])|(?:^|[\s-])i-(next|previous)\b|(?:chevron|angle|arrow|caret)-(right|left)"
)
_HUMP: Final = re.compile(r"([a-z])([A-Z])")
# What is next to one article, photo or month is no next page of a list.
_ONE_THING: Final = re.compile(
    r"\b(?:post|article|story|photo|image|slide|project|product|month|week|day|year|chapter|episode|event|beitrag|artikel)\b"
)
# "Show more" alone unfolds a text as often as a list, so those words need their noun.
_NOUNS = (
    r"(?:results?|items?|products?|listings?|entries|posts|articles|jobs|openings|positions|vacancies|offers|events|ads|stellen|ergebnisse|treffer|"
    r"produkte|angebote|artikel|ofertas|resultados|empleos|vagas|offres|résultats|produits|annonces|risultati|offerte|vacatures|resultaten|"
    r"oferty|wyniki|nabídky|вакансии|объявления|товары)"
)
_OF = rf"(?: d[e'] ?)? ?(?:{_NOUNS})"
MORE: Final = re.compile(
    rf"load (?:\d+ )?more(?: (?:{_NOUNS}))?|(?:show|see|view) (?:\d+ )?more (?:{_NOUNS})|more results|"
    rf"(?:mehr|weitere) (?:{_NOUNS} )?(?:laden|anzeigen)|(?:cargar|carregar) m[aá]i?s(?:{_OF})?|(?:mostrar|ver) m[aá]i?s{_OF}|"
    rf"charger plus(?:{_OF})?|(?:afficher|voir) plus{_OF}|carica altr[oi](?:{_OF})?|meer (?:{_NOUNS} )?laden|ladda fler(?: \w+)?|"
    r"indlæs flere|załaduj więcej|načíst další|загрузить ещ[её]|показать ещ[её]|もっと見る|加载更多|더 ?보기",
    re.IGNORECASE,
)


def direction(text: str) -> str | None:
    """Where a link's text leads: next, prev, first, last; None where it names no direction."""
    said = " ".join(text.lower().split())
    if said in SIGNS:
        return SIGNS[said]
    bare = said.strip(_ARROWS)
    if not bare or len(bare) > 30 or _ONE_THING.search(bare):
        return None
    return DIRECTIONS.get(bare) or DIRECTIONS.get(re.sub(r"\s*\(?\d+\)?$", "", bare)) or _counted(bare)


def _counted(bare: str) -> str | None:
    """`next 20`, `next 10 results`, `previous 50`."""
    match = re.fullmatch(r"(next|previous|prev|nächste|suivants?|siguientes?) \d{1,4}(?: \w{1,12})?", bare)
    return None if match is None else "prev" if match[1].startswith("prev") else "next"


def direction_of_class(names: str) -> str | None:
    """Where a class says a link leads."""
    match = _CLASSES.search(_HUMP.sub(r"\1-\2", names[:400]).lower())
    if match is None:
        return None
    word = match[1] or match[2] or match[3]
    return {"previous": "prev", "right": "next", "left": "prev"}.get(word, word)


MAX_ANCHORS: Final = 5_000
_NUMBER = re.compile(
    r"(?:(?:go to |goto |to )?(?:results? )?(?:page|seite|página|pagina|strona|strana|sida|side|sayfa|страница|p\.)\s?#?)?\s*\[?(\d{1,5})\]?"
    r"(?:\s?(?:ページ|页|頁|페이지))?(?:\s\1)?",
    re.IGNORECASE,
)
_PAGER = re.compile(
    r"pagin|pager|page-?nav|page-?numbers|wp-page|(?:^|[\s_-])pages?(?:$|[\s_-])|(?:next|prev)_posts|nav-links",
    re.IGNORECASE,
)
_ONE_POST = re.compile(r"(?:post|entry|article|single)-?nav", re.IGNORECASE)  # from one article to the next
_DOOR = re.compile(
    r"log-?in|sign-?in|sign-?up|register|account", re.IGNORECASE
)  # where a list goes on for members only
_NAMES: Final = (
    "class",
    "id",
    "data-testid",
    "data-test",
    "data-qa",
    "data-automation",
    "aria-label",
    "alt",
    "title",
)
_CURRENT: Final = frozenset({"active", "current", "selected"})


@dataclass(frozen=True, slots=True)
class Anchor:
    """A link that names a page number or a direction. `sure`: it says so itself, not only its class or its
    relation.
    """

    node: Node
    url: str
    text: str
    number: int | None
    way: str | None
    sure: bool = False


class Pager:
    """One page being read."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.here = document.url

    @cached_property
    def anchors(self) -> list[Anchor]:
        nodes = self.document.root.css("a[href]")[:MAX_ANCHORS]
        return [anchor for anchor in map(self._anchor, nodes) if anchor is not None]

    def _anchor(self, node: Node) -> Anchor | None:
        text = link_text(node)
        if len(text) > 40:
            return None
        number = _NUMBER.fullmatch(text)
        said, rel = direction(text), self._rel(node)
        way = rel or said or self._labelled(node, text)
        if number is None and way is None:
            return None
        href = node.attribute("href") or ""
        url = self.document.absolute(href)
        if url is None or href.strip().startswith("#"):
            return None
        sure = said is not None and not text.lower().startswith("more")  # more of what?
        return Anchor(
            node, url, text, int(number[1]) if number else None, None if number and not rel else way, sure
        )

    @staticmethod
    def _rel(node: Node) -> str | None:
        words = (node.attribute("rel") or "").lower().split()
        return "next" if "next" in words else "prev" if "prev" in words or "previous" in words else None

    @staticmethod
    def _labelled(node: Node, text: str) -> str | None:
        if len(text) > 20:
            return None
        for name in ("aria-label", "title"):
            if (way := direction(node.attribute(name) or "")) is not None:
                return way
        inside = () if text else islice(node.walk("svg", "i", "span", "img", "use"), 3)
        near = (node, node.parent, *inside)
        named = (each.attribute(name) or "" for each in near if each is not None for name in _NAMES)
        return direction_of_class(" ".join(named))

    @cached_property
    def numbered(self) -> list[Anchor]:
        """The largest believable row of page numbers."""
        groups: dict[Node, list[Anchor]] = {}
        for anchor in self.anchors:
            if anchor.number is not None:
                for above, _ in zip(anchor.node.ancestors, range(4), strict=False):
                    groups.setdefault(above, []).append(anchor)
        believable = [group for box, group in groups.items() if self._believed(box, group)]
        chosen = max(
            believable, key=lambda group: len({each.url for each in group}), default=[]
        )  # the first of the largest
        return list({each.number: each for each in chosen}.values())

    def _believed(self, box: Node, group: Sequence[Anchor]) -> bool:
        numbers = sorted({each.number for each in group if each.number is not None})
        if len(group) > 60 or numbers[0] >= 1900 or len(numbers) < len({each.url for each in group}) - 1:
            return False
        if (
            not _neighbours(numbers)
            and not _neighbours([*numbers, self.standing(box) or 0])
            and not self._with_way(box)
        ):
            return False  # 12, 24, 48: how many to show
        if len(numbers) >= 27 and box.closest("table") is not None:
            return False  # a calendar
        return numbered_alike(
            [(each.number, each.url) for each in group if each.number is not None], self.here
        )

    @staticmethod
    def standing(box: Node) -> int | None:
        """The current page: a number in the row that is no link."""
        linked = set(box.css("a[href]")[:100])
        for node in box.css("span, strong, b, em, li, a:not([href]), a.active, a.current, [aria-current]")[
            :200
        ]:
            if node not in linked and node.own_text.strip().isdecimal() and len(node.own_text.strip()) < 6:
                return int(node.own_text.strip())
        loose = re.findall(r"(?:^|\s)\[?(\d{1,5})\]?(?=\s|$)", box.own_text)
        return int(loose[0]) if loose else None

    def _with_way(self, box: Node) -> bool:
        inside = {anchor.node for anchor in self.anchors if anchor.way in ("next", "prev") and anchor.sure}
        return any(node in inside for node in box.css("a[href]")[:100])

    @cached_property
    def number(self) -> int | None:
        """The current page."""
        if not self.numbered:
            return None
        for box, _ in zip(self.numbered[0].node.ancestors, range(4), strict=False):
            if (standing := self.standing(box)) is not None:
                return standing
        here = comparable(self.here)
        linked = (each.number for each in self.numbered if comparable(each.url) == here or _marked(each.node))
        return next(linked, None) or _gap([each.number for each in self.numbered if each.number])

    @cached_property
    def boxes(self) -> set[Node]:
        """The elements around the numbers, in which a bare arrow is believed too."""
        return {
            above
            for anchor in self.numbered
            for above, _ in zip(anchor.node.ancestors, range(4), strict=False)
        }

    def ways(self, way: str) -> list[str]:
        """The addresses that are believed to lead that way, the surest first."""
        found = [anchor for anchor in self.anchors if anchor.way == way and self._trusted(anchor)]
        ranked = sorted(found, key=lambda each: (not self._in_box(each.node), not each.sure))
        return list(dict.fromkeys(each.url for each in ranked))

    def _trusted(self, anchor: Anchor) -> bool:
        if anchor.url.partition("#")[0] == self.here.partition("#")[0] and anchor.way == "next":
            return False
        if is_paged(anchor.url) or (is_paged(self.here) and same_list(anchor.url, self.here)):
            return True
        return (
            anchor.sure
            and not _DOOR.search(anchor.url)
            and (self._in_box(anchor.node) or self._in_pager(anchor.node))
        )

    def _in_box(self, node: Node) -> bool:
        return any(above in self.boxes for above, _ in zip(node.ancestors, range(3), strict=False))

    @staticmethod
    def _in_pager(node: Node) -> bool:
        near = [node, *(above for above, _ in zip(node.ancestors, range(3), strict=False))]
        names = [f"{each.attribute('class') or ''} {each.attribute('id') or ''}" for each in near]
        return any(map(_PAGER.search, names)) and not any(map(_ONE_POST.search, names))

    def declared(self, way: str) -> list[str]:
        """Addresses from the head of the page and from the header of the answer, if they look like pages of a
        list.
        """
        names = ("next",) if way == "next" else ("prev", "previous")
        hrefs = [
            node.attribute("href") or ""
            for node in self.document.root.css("link[rel][href]")[:200]
            if _among(node, names)
        ]
        page = self.document.page
        hrefs += from_header(page.headers.get("link", ""), names) if page else []
        urls = [url for url in map(self.document.absolute, hrefs) if url is not None]
        return [
            url
            for url in dict.fromkeys(urls)
            if is_paged(url) or (is_paged(self.here) and same_list(url, self.here))
        ]


def _neighbours(numbers: Iterable[int]) -> bool:
    return any(
        after - before == 1 for before, after in pairwise(sorted(number for number in numbers if number))
    )


def _among(node: Node, names: Iterable[str]) -> bool:
    return not set((node.attribute("rel") or "").lower().split()).isdisjoint(names)


def _marked(node: Node) -> bool:
    """A link that is shown as the current page: it, or the box right around it, is called so."""
    near = (node, node.parent, *islice(node.walk(), 3))
    names = " ".join(each.attribute("class") or "" for each in near if each is not None)[:1_000]
    words = names.lower().replace("-", " ").replace("_", " ").split()
    current = (node.attribute("aria-current") or "false").lower() != "false"
    return current or not _CURRENT.isdisjoint(words)


def _gap(numbers: Sequence[int]) -> int | None:
    """The one number that is missing between two neighbours: 1 2 _ 4 5."""
    missing = [low + 1 for low, high in pairwise(sorted(numbers)) if high - low == 2]
    return missing[0] if len(missing) == 1 else None
