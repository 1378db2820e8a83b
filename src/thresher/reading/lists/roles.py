"""The role of a text in a row, as far as the names of its elements and its own words tell: title, company,
location, date, pay, price, or something that is none of them.

A name is read word by word and its last telling word counts: `company-title` and `job-title` are titles,
`title-date` is a date. Nearer elements count before the boxes around them.
"""

import re
from functools import cache, lru_cache

from thresher.reading.text.vocabulary import plain, vocabulary, words
from thresher.reading.values.money import Price, read_price
from thresher.reading.values.places import is_place

FIELDS = ("company", "location", "posted", "salary", "employment_type")
MAX_DATE = 40  # characters
MAX_NAMES = 160
MAX_PRICE_LETTERS = 8  # beside an amount without a sign: XOF, per month
_SIGNS = frozenset("$€£¥₹₽₩₺₫฿₴₪円元원")
LEVELS = 3  # elements around a text whose names are read
_PARTS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
# A hint of so few letters is a whole word: `age` is no page, `time` no runtime.
_SHORT = 4
_TITLES = ("title", "titles", "headline", "heading", "titel", "titre", "titulo", "titolo", "subject")
_WEAK_TITLES = ("name", "position", "summary-link", "caption", "designation")
_OTHERS = (
    *(
        "author",
        "user",
        "seller",
        "brand",
        "categor",
        "tag",
        "tags",
        "badge",
        "label",
        "breadcrumb",
        "rating",
    ),
    *("review", "excerpt", "descr", "snippet", "summary", "button", "btn", "count", "logo", "icon", "meta"),
    *(
        "applicant",
        "skill",
        "benefit",
        "industry",
        "sector",
        "experience",
        "footer",
        "action",
        "share",
        "new",
    ),
    *("hot", "urgent", "status", "stock", "shipping", "delivery", "department", "alert"),
)
_PRICES = ("price", "preis", "prix", "precio", "prezzo", "prijs", "preco", "cena", "pris")
_DATE = re.compile(
    r"\b\d{1,2}[./ -]\d{1,2}[./ -](?:\d{4}|\d{2})\b|\b\d{4}[./-]\d{1,2}[./-]\d{1,2}|"
    r"\b\d{1,2}(?:st|nd|rd|th|\.)? (?:jan|feb|m[aä]r|apr|ma[iyj]|jun|jul|a[uo][gû]|sep|o[ck]t|nov|d[eé][czk]|янв|фев|мар|апр|мая|июн|июл|авг|сен|окт|ноя|дек)\w*|"
    r"\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)\w*[ -]\d{1,2}\b|"
    r"\b\d{1,3}\+? ?(?:minute|min|hour|hr|h|day|d|week|wk|w|month|mo|tag|stunde|woche|monat|jour|heure|semaine|mois|d[ií]a|hora|semana|mes|giorn|or[ae]|"
    r"dag|uur|dni|godz|час|ден|дн|нед|мес|gün|saat|hari|ngày)\w* ?(?:ago|old|назад|önce|lalu|trước)?(?!\w)|\bvor \d|\bhace \d|\bhá \d|\bil y a\b|"
    r"\b(?:today|yesterday|just posted|just now|heute|gestern|hoy|ayer|hoje|ontem|aujourd'hui|hier|oggi|ieri|vandaag|gisteren|dzisiaj|wczoraj|dnes|včera|"
    r"сегодня|вчера|сьогодні|вчора|i dag|i går|bugün|dün|hari ini|kemarin)\b|今天|昨天|今日|昨日|오늘|어제|\d{1,2}月\d{1,2}日|\d{1,2}/\d{1,2}\([月火水木金土日월화수목금토일]\)|"
    r"\d+\s?(?:分钟|小时|日|天|周|時間|ヶ月|週間|분|시간|일|주|개월) ?[前전]",
    re.IGNORECASE,
)
_COMPANY = re.compile(
    r"(?<![\w])(?:inc|llc|ltd|limited|gmbh|ag|kg|se|s\.?a\.?s?|s\.?r\.?l|s\.?l\.?u?|b\.?v|n\.?v|oy|ab|aps|as|a/s|plc|corp|corporation|co|"
    r"pty|pvt|sp\. z o\.o|s\.r\.o|kft|zrt|d\.o\.o|ооо|ао|пао|тов|tbk|sdn bhd|bhd|group|holding|university|universität|hospital)\.?(?!\w)"
    r"|株式会社|有限会社|合同会社|有限公司|股份|集团|公司|㈜|\(주\)|（株）|주식회사|법인",
    re.IGNORECASE,
)


def role_of(names: tuple[str, ...]) -> str | None:
    """What the elements around a text are named after: a field, `title`, `price`, `other`, or None."""
    for name in names[:LEVELS]:
        if role := _role_of_name(name[:MAX_NAMES]):
            return role
    return None


@lru_cache(4_096)
def _role_of_name(name: str) -> str | None:
    parts = "-".join(_PARTS.findall(name)).lower()
    found = [
        (match.end(), match.end() - match.start(), match.lastgroup) for match in _hints().finditer(parts)
    ]
    sure = [each for each in found if each[2] != "weak"]
    if sure:
        return max(sure)[2]
    return "title" if found else None


@cache
def _hints() -> re.Pattern[str]:
    kinds = {field: vocabulary("fields")[f"{field}_hints"] for field in FIELDS}
    kinds |= {"price": _PRICES, "other": _OTHERS, "title": _TITLES, "weak": _WEAK_TITLES}
    named = (f"(?P<{kind}>{'|'.join(map(_hint, hints))})" for kind, hints in kinds.items())
    return re.compile(f"(?:^|(?<=-))(?:{'|'.join(named)})")


def _hint(hint: str) -> str:
    return f"{re.escape(hint)}(?=-|s-|s?$)" if len(hint) <= _SHORT else re.escape(hint)


def is_button(text: str) -> bool:
    return words("button").is_one(text) or plain(text).startswith(vocabulary("button")["starts"])


@lru_cache(8_192)
def is_date(text: str) -> bool:
    """Whether a text is a date or an age, and little else."""
    found = _DATE.search(text) if len(text) <= MAX_DATE else None
    return found is not None and len(found[0]) * 3 >= len(text)


@lru_cache(8_192)
def is_price(text: str) -> bool:
    """Whether a text is an amount of money, and little else."""
    if len(text) > MAX_DATE or not any(char.isdigit() for char in text):
        return False
    letters = sum(char.isalpha() for char in text)
    if letters > MAX_PRICE_LETTERS and _SIGNS.isdisjoint(text):
        return False
    found = read_price(text)
    return isinstance(found, Price) and bool(found.currency or found.symbol)


def is_company(text: str) -> bool:
    """Whether a text ends as the names of companies do."""
    return len(text) <= 80 and _COMPANY.search(text) is not None and not is_place(text)


def is_employment_type(text: str) -> bool:
    return len(text) <= MAX_DATE and words("opening", "types").is_one(text)
