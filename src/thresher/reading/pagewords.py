"""The words and signs by which a list says "next", "previous", "first", "last" and "more", in the languages
of the web.
"""

import re
from typing import Final

_WORDS: Final = {
    "next": """
        next|next page|more|older|older posts|older entries|older articles|weiter|nächste|nächste seite|vor|vorwärts|suivant|
        suivante|suivants|page suivante|siguiente|siguientes|página siguiente|próximo|próxima|próxima página|proximo|proxima|
        seguinte|próximos|successivo|successiva|pagina successiva|avanti|volgende|volgende pagina|verder|nästa|nästa sida|næste|
        neste|seuraava|następna|następny|następne|następna strona|dalej|další|další stránka|následující|ďalšia|ďalej|következő|
        următoarea|următorul|înainte|sonraki|sonraki sayfa|ileri|следующая|следующая страница|следующий|далее|дальше|вперед|вперёд|
        наступна|далі|επόμενη|επόμενο|次へ|次|次のページ|下一页|下一頁|下页|다음|tiếp|sau|trang sau|selanjutnya|berikutnya|التالي|
        הבא|sljedeća|sledeća|напред|следваща|go to next page|to next page|next results|more results
    """,
    "prev": """
        previous|prev|previous page|newer|newer posts|newer entries|newer articles|zurück|vorherige|vorherige seite|précédent|
        précédente|précédents|page précédente|anterior|anteriores|página anterior|precedente|pagina precedente|indietro|vorige|
        vorige pagina|föregående|föregående sida|forrige|edellinen|poprzednia|poprzedni|poprzednia strona|wstecz|předchozí|
        předchozí stránka|predchádzajúca|előző|anterioara|anterioară|înapoi|önceki|önceki sayfa|geri|предыдущая|предыдущая страница|
        предыдущий|назад|попередня|προηγούμενη|前へ|前|前のページ|上一页|上一頁|上页|이전|trước|trang trước|sebelumnya|السابق|הקודם|
        prethodna|назад|go to previous page|to previous page|previous results
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
    r"(?:^|[\s_-])(next|prev|previous|first|last)(?=$|[\s_-])|(?:^|[\s-])i-(next|previous)\b"
)
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
    match = _CLASSES.search(names.lower()[:300])
    if match is None:
        return None
    word = match[1] or match[2]
    return "prev" if word == "previous" else word
