"""Compare what is said of a coin: its year and its mint mark."""

import re

from thresher.apps.prices.matching.comparison import SILENT, Compared, affirmed, differs, matches, quote_of
from thresher.apps.prices.matching.vocabulary import phrases
from thresher.apps.prices.matching.words import Words

_MARKS = r"CC|[PDSOWC]"
# A year, and the mint mark right behind it: "1921-D", "1921 D", "1921D". Amounts, sizes and catalogue numbers
# of four digits are none.
_YEAR = re.compile(
    r"(?<![\w$€£#.,])(?<!\d[x×/])(1[5-9]\d\d|20\d\d)"
    rf"(?:({_MARKS})(?![^\W_])|\s?[-–—]\s?({_MARKS})(?![^\W_])|\s({_MARKS})(?![^\W_]|[/&'’]|\.[A-Za-z]))?"
    r"(?![^\W_]|[.,]\d|['’]?[x×]\d)",
    re.IGNORECASE,
)
_PAIRED_YEAR = re.compile(r"(?<!\d)(1[5-9]|20)(\d\d)\s?[-–—/&]\s?'?(\d\d)(?!\d)")
_MINT_WORD = re.compile(
    rf"(?<![^\W_])({_MARKS})[- ]?(?:mint|mm)(?![^\W_])|(?<![^\W_])mint ?mark:? ({_MARKS})(?![^\W_])",
    re.IGNORECASE,
)
# Capital letters that stand alone. C is left out: it is a class, a size, a circa.
_ALONE = re.compile(r"(?<![^\W_])(?<![.&/'’])(?<!U )(CC|[PDSOW])(?![^\W_]|[./'’]\w)(?!\.)(?!/)")
NO_MARK = "none"
_PHILADELPHIA = "P"


def compare_year(wanted: str, words: Words) -> Compared:
    """Compare a year. A text that names several does not say which one it is about."""
    years = [(int(each[1]), each[0]) for each in _YEAR.finditer(words.text) if not _is_decade(each)]
    spans = [each for each in _PAIRED_YEAR.finditer(words.text) if int(each[3]) > int(each[2]) + 1]
    if spans:
        return differs(spans[0][0], f"the years {spans[0][0]}")
    other = next((quote for year, quote in years if year != int(wanted)), None)
    if other is not None:
        said = len({year for year, _ in years}) > 1
        return differs(other, f"several years, {_list(years)}") if said else differs(other)
    if years:
        return matches(years[0][1])
    alone = words.places((wanted,)) if len(wanted) < 4 or int(wanted) < 1500 else []
    return matches(words.quote(alone[0], alone[0] + 1)) if alone else SILENT


def _list(years: list[tuple[int, str]]) -> str:
    return " and ".join(str(year) for year in dict.fromkeys(year for year, _ in years))


def _is_decade(found: re.Match[str]) -> bool:
    """Whether it is a decade: "1880s" may be ten years or one of San Francisco, and says neither."""
    return found[2] == "s" and found[1].endswith("0")


def compare_mint_mark(wanted: str, words: Words) -> Compared:
    """Compare a mint mark. Coins of Philadelphia mostly have none: "P" and "none" are one."""
    own = _plain_mark(wanted)
    found = _marks(words)
    other = next((quote for mark, quote in found if mark != own), None)
    if other is not None:
        several = any(mark == own for mark, _ in found)
        return differs(other, "several mint marks" if several else None)
    return matches(found[0][1]) if found else SILENT


def _plain_mark(mark: str) -> str:
    return _PHILADELPHIA if mark.lower() == NO_MARK else mark.upper()


def _marks(words: Words) -> list[tuple[str, str]]:
    """The mint marks that a text names, each with its quote. Of "1938-D/S" the first counts: it is one
    over the other.
    """
    text = words.text
    taken: list[tuple[int, int]] = []
    found: list[tuple[str, str]] = []
    for each in _YEAR.finditer(text):
        mark = each[2] or each[3] or each[4]
        if mark and not _is_decade(each):
            found.append((mark.upper(), each[0]))
            over = re.compile(rf"/\s?(?:{_MARKS})(?![^\W_])", re.IGNORECASE).match(text, each.end())
            taken.append((each.start(), over.end() if over else each.end()))
    for each in _MINT_WORD.finditer(text):
        found.append(((each[1] or each[2]).upper(), each[0]))
        taken.append(each.span())
    # Letters are read above and below. A city beside a mark may be where a show was, unless it says "mint".
    found += [
        (each.label, quote)
        for each in affirmed(words, phrases("mints"))
        if len(quote := quote_of(words, each)) > 2 and (not taken or words.word(each.end) == "mint")
    ]
    found += [
        (each[1], each[0])
        for each in _ALONE.finditer(text)
        if not any(start <= each.start() < end for start, end in taken)
    ]
    return found
