"""The amounts in a text, each with its currency and with what the words around it make of it.

Most numbers on a page are no prices: weights, ratings, codes, discounts, the order value from which shipping
is free. What is refused is refused for a reason that a person can read.
"""

import re
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import Enum, auto
from typing import Final

from thresher.reading.values import currency
from thresher.reading.values.currency import Currency
from thresher.reading.values.numbers import Numeral, numerals

# The words around an amount that say what it is: a saving, shipping, a unit, what it cost before.


def _words(*lines: str, before: str = "", after: str = "") -> re.Pattern[str]:
    return re.compile(f"{before}(?:{'|'.join(lines)}){after}", re.IGNORECASE)


_SHIPPING = (
    r"shipping|delivery|postage|versand|lieferung|livraison|frais de port|env[ií]os?|frete|spedizion[ei]|verzend(?:ing|kosten)|"
    r"frakt|fragt|wysyłk\w+|dostaw\w+|doprav\w+|poštovn\w+|доставк\w+|kargo|toimitus"
)
_SAVING_BEFORE = _words(
    r"sav(?:e|es|ed|ings?)|discount|rebate|coupon|voucher|cash ?back|gift card|credit|deposit|points?|reward",
    r"spar(?:en|e|t)|ersparnis|rabatt?|pfand|ahorr\w+|descuento|desconto|économi\w+|remise|sconto|risparmi\w+|korting",
    r"zniżk\w+|oszczęd\w+|slev\w+|ušetř\w+|скидк\w+|знижк\w+|экономи\w+",
    before=r"\b",
    after=r"\b",
)
_THRESHOLD = _words(
    r"\b(?:orders?|purchases?|baskets?|spend|minimum|min\.?|bestellwert|mindest\w+|achats?|pedidos?|compras?|заказ\w*)\b.{0,30}",
    r"\b(?:over|above|exceeding|more than|mehr als|über|plus de|más de|mais de|oltre|meer dan|свыше|ponad|nad|powyżej)\s*",
    after="$",
)
_FEE = re.compile(
    r"^\W*(?:\w+ )?(?:tax(?:es)?|vat|mwst|(?:sur)?charges?|fees?|gebühr(?:en)?)\W*$", re.IGNORECASE
)
_SAVING_AFTER = _words(
    r"off\b|discount|rabatt|de descuento|de remise|korting|credit\b|coupon|voucher|cash ?back|gift card|di sconto|скидк",
    before=r"\s*",
)
_SHIPPING_AFTER = _words(
    _SHIPPING,
    before=r"\s*\(?(?:for |de |für |na |za )?(?:flat(?:[- ]rate)? |standard |express )?",
    after=r"\b",
)

# What the words between the last amount and this one make of it, and the words right behind it.
REFUSED_BEFORE: Final = (
    (
        _words(_SHIPPING, before=r"\b", after=r"\w*"),
        "the cost of shipping, or the order from which it is free",
    ),
    (_SAVING_BEFORE, "a saving, not a price"),
    (_THRESHOLD, "a threshold, not a price"),
    (_FEE, "a tax or a fee"),
)
REFUSED_AFTER: Final = (
    (re.compile(r"\s*(?:%|percent\b|prozent\b|pour ?cent\b|процент)", re.IGNORECASE), "a percentage"),
    (_SHIPPING_AFTER, "the cost of shipping"),
    (_SAVING_AFTER, "a saving, not a price"),
)
INSTALMENT: Final = _words(
    r"\b\d+\s?[x×](?: de)?",
    r"\b(?:payments? of|instal+ments? of|monatsraten?|raten (?:zu|à|von)|cuotas? de|parcelas? de|rat[ey] po)",
    after=r"\s*$",
)
BEFORE_SAVING: Final = _words(
    "before|without|vor|ohne|avant|sans|antes de|sin|przed|před|без|до",
    before=r"\b",
    after=r"\s+(?:\w+ )?\w+\W*$",
)

# Behind and before a number without a currency.
QUANTITY: Final = re.compile(
    r"\s?(?:(?:stars?|sterne|étoiles|reviews?|ratings?|votes?|bewertungen|avis|opini\w+|sold|verkauft|left|in stock|available|auf lager|"
    r"items?|results?|products?|pieces?|pcs?|stk|stück|packs?|sets?|people|watching|bids?|views?|"
    r"kg|g|gr|mg|lbs?|oz|ml|cl|dl|l|liters?|litres?|cm|mm|m|km|ft|feet|inch(?:es)?|in|yd|gb|mb|tb|kb|w|kw|kwh|v|mah|hp|ps|mp|hz|ghz|px|dpi|"
    r"minutes?|mins?|hours?|hrs?|days?|weeks?|months?|years?|tage?n?|monate?n?|jahre?n?|jours?|mois|ans|días?|años?|am|pm|uhr|st|nd|rd|th)"
    r"(?![^\W\d_])|[\"″′°x×]|:(?!-)|\s*/\s*\d|\s*out of\b|\s*von \d)",
    re.IGNORECASE,
)
IDENTIFIER: Final = _words(
    r"[#№]",
    r"\b(?:sku|no|nr|code|codes|id|ids|item|art|article|artikel\w*|model|isbn|ean|upc|asin|ref|reference|part|version|ver|v|page|seite)\b",
    r"\b(?:lot|size|größe|tel|phone|telefon|fax|call|zip|room|level|step|код\w*|артикул|арт|товара|kat|katalog\w*|year|since|seit|depuis)\b",
    after=r"[\s.:#№-]*$",
)

LIST: Final = _words(
    r"was|were|list(?: price)?|rrp|r\.r\.p|msrp|srp|uvp|retail|regular(?:ly)?|reg|original(?:ly)?|old(?: price)?|before|previous(?:ly)?",
    r"compare(?:d)?(?: at| to)?|strike|statt|bisher|früher|alter preis|avant|au lieu de|prix (?:barré|conseillé)|antes|pvp",
    r"precio (?:anterior|normal)|prima|invece di|listino|van|adviesprijs|oude prijs|ord(?:inarie)?|tidigare|før|veil|stara cena",
    r"cena regularna|przed|před|běžná|původní|старая|раньше|вместо|було",
    before=r"\b",
    after=r"\b[^\d]{0,25}$",
)
NOW: Final = _words(
    r"now|sale|our(?: price)?|special|today|current|deal|offer|reduced|final|your price|jetzt|nur noch|angebot|aktuell|neuer preis",
    r"maintenant|soldes?|promo(?:tion)?|ahora|oferta|agora|ora|adesso|offerta|nu|voor|nå|teraz|promocja|nyní|akce|naše cena",
    r"сейчас|теперь|акци\w+|зараз",
    before=r"\b",
    after=r"\b[^\d]{0,25}$",
)
FROM: Final = _words(
    r"\b(?:from|starting(?: at| from)?|starts? at|as low as|at least|from just|ab|à partir de?|a partir(?: de| da)?|desde|da|dès)",
    r"\b(?:vanaf|från|fra|od|alkaen|от|від|min\.?)",
    after=r"\s*:?\s*$",
)
UP_TO: Final = _words(
    r"up to|until|under|less than|max(?:imum|\.)?|at most|below|bis(?: zu)?|unter|jusqu['’]à|hasta|até|fino a|tot|do|до",
    before=r"\b",
    after=r"\s*:?\s*$",
)

_UNITS: Final = {
    "hour": "hour|hr|hrs|h|std|stunde|heure|hora|ora|uur|godzin[aę]|час",
    "day": "day|d|tag|jour|día|dia|giorno|dag|night|nacht|nuit|noche|notte",
    "week": "week|wk|woche|semaine|semana|settimana",
    "month": r"month|mo|mth|monat|mois|mes|mês|mese|maand|mnd|mån|miesiąc|мес\w*",
    "year": "year|yr|annum|pa|jahr|an|année|año|ano|anno|jaar|rok|год",
    "100 g": "100 ?g",
    "100 ml": "100 ?ml",
    "kg": r"kg|kilo|kilogram\w*",
    "g": r"g|gr|gram\w*",
    "l": "l|liter|litre|litro",
    "m": "m|meter|metre|lfm",
    "m²": "m2|m²|sqm|qm",
    "sq ft": r"sq\.? ?ft",
    "lb": "lb|pound",
    "oz": "oz",
    "each": "each|ea|stk|stück|st|szt|piece|pc|pcs|unit|item|unidad|unité|pièce|pezzo|stuk|ks|шт|台|個|个|件|person|pers|pp|user|seat",
}
_ADVERBS: Final = {
    "hourly": "hour",
    "an hour": "hour",
    "daily": "day",
    "weekly": "week",
    "monthly": "month",
    "yearly": "year",
    "annually": "year",
    "each": "each",
    "ea": "each",
}
_PER: Final = re.compile(
    r"\s*(?:(?:/|\bper\b|\bpro\b|\bpar\b|\bpor\b|\bal?\b|\ban\b|\bje\b|\bza\b|\bpr\b\.?|\bà l['’]|\bp\.)\s*(?:1 )?"
    rf"({'|'.join(_UNITS.values())})(?![^\W_])|({'|'.join(_ADVERBS)})\b)",
    re.IGNORECASE,
)

_MULTIPLES: Final = {
    "k": 3,
    "tsd": 3,
    "тыс": 3,
    "lakh": 5,
    "m": 6,
    "mn": 6,
    "mio": 6,
    "million": 6,
    "millionen": 6,
    "crore": 7,
    "bn": 9,
    "billion": 9,
}
_TIMES: Final = re.compile(rf"\s?({'|'.join(_MULTIPLES)})\b\.?", re.IGNORECASE)
# Where rupees are counted, L and Cr are a hundred thousand and ten million; elsewhere a litre and nothing.
_RUPEES: Final = frozenset({"INR", "PKR", "NPR", "BDT", "LKR"})
_INDIAN: Final = re.compile(r"\s?(?:(l|lacs?|lakhs?)|(?:cr|crores?))\b\.?", re.IGNORECASE)


def unit_of(after: str) -> str | None:
    """What an amount buys, if the words behind it say so: "kg", "hour", "each"."""
    match = _PER.match(after)
    if match is None:
        return None
    if match[2]:
        return _ADVERBS[match[2].lower()]
    return next(unit for unit, words in _UNITS.items() if re.fullmatch(words, match[1], re.IGNORECASE))


def multiple_at(line: str, at: int, code: str | None) -> tuple[int, int] | None:
    """The power of ten that a `k` or a `million` at this place means, and where it ends. `code` is the
    currency in front of it.
    """
    if code in _RUPEES and (indian := _INDIAN.match(line, at)) is not None:
        return 5 if indian[1] else 7, indian.end()
    match = _TIMES.match(line, at)
    return None if match is None else (_MULTIPLES[match[1].lower()], match.end())


class AmountRole(Enum):
    """What an amount is to the thing on sale."""

    PLAIN = auto()
    NOW = auto()
    LIST = auto()  # what it cost before, or should cost
    UNIT = auto()  # for a kilogram, an hour, a month


@dataclass(frozen=True, slots=True)
class Amount:
    """A number that may be a price. `start` and `end` include its currency sign; `refusal` says why it is not
    a price.
    """

    start: int
    end: int
    value: Decimal
    currency: Currency | None
    leads: bool = False  # the sign stands in front
    role: AmountRole = AmountRole.PLAIN
    per: str | None = None
    bound: str | None = None
    refusal: str | None = None


# "12,-" and "12:-" are twelve.
_DASH_FOR_ZEROS = re.compile(r"[.,:]\s?[-–—]{1,2}(?![\d-])|[.,](?=\s?[^\s\d]|$)")
_MINUS = re.compile(r"(?<![\w.)€$£])[-−]$")
_NOT_AMOUNTS = re.compile(
    # dates, times
    r"\b\d{1,4}([./-])\d{1,2}\1\d{2,4}\b|\b\d{4}-\d{2}-\d{2}|^\d{1,4}[-/]\d{1,2}$|\b\d{1,2}:\d{2}\b"
    r"|\+\d[\d ().-]{7,}|(?<!\d)0\d{2,4}[ /-]\d{2,}[\d /-]*|\(\d{3}\) ?\d{3}(?:[-. ]?\d{4})?"  # telephones
    r"|\b\d{3}[-.]\d{3}[-.]\d{4}\b|\b\d-\d{3}-\d+|\b\d{3}-\d{4}\b"
    r"|\b\d+(?:\.\d+)? ?[x×] ?\d+(?:\.\d+)?\b"  # sizes
)


def amounts(line: str) -> list[Amount]:
    """Every number of the line as an amount, in order. The line is short and went through `plain_digits`."""
    spans = [each.span() for each in _NOT_AMOUNTS.finditer(line)]
    found: list[Amount] = []
    for number in numerals(line):
        since = found[-1].end if found else 0
        if (amount := _amount(line, number, since)) is not None:
            if _is_broken(line, number) and amount.refusal is None:
                amount = replace(amount, refusal="its digits are not grouped like an amount")
            inside = amount.currency is None and any(
                start < number.end and number.start < end for start, end in spans
            )
            found.append(
                replace(amount, refusal="a date, a time, a size or a phone number") if inside else amount
            )
    return found


# "$..75", "$.75,333", "1250€600": nobody can tell what these were before they were cut or glued together.
_BROKEN_BEFORE = re.compile(r"[.,]{2}$")
_BROKEN_AFTER = re.compile(r"[.,]\d|[€$£]\d")


def _is_broken(line: str, number: Numeral) -> bool:
    return (
        _BROKEN_BEFORE.search(line, max(0, number.start - 2), number.start) is not None
        or _BROKEN_AFTER.match(line, number.end) is not None
    )


def _amount(line: str, number: Numeral, since: int) -> Amount | None:
    lead, start = _lead(line, number.start, since)
    times = multiple_at(line, number.end, lead.code if lead else None)
    trail, end = _trail(line, number.end, times[1] if times else _past_dash(line, number.end), lead)
    cents = _cents(line, number.end) if lead is None and trail is None else None
    chosen = cents or _agreed(lead, trail)
    value = number.value(thousandths=_in_thousandths(chosen, number.written))
    if value is None:
        return None
    if cents is not None:
        value, end = value / 100, line.index(cents.sign, number.end) + len(cents.sign)
    elif chosen is not None and times is not None:
        value, end = value * 10 ** times[0], max(end, times[1])
    elif times is not None:
        end = number.end
    return _judged(Amount(start, end, value, chosen, leads=lead is not None), line, since)


def _cents(line: str, end: int) -> Currency | None:
    tail = line[end : end + 9]
    found = currency.cents_after(tail.lstrip())
    apart = tail[:1].isspace() and found is not None and found.sign in ("p", "c")  # "5 p." is a page
    return None if apart else found


def _lead(line: str, start: int, since: int) -> tuple[Currency | None, int]:
    head = line[max(since, start - 24) : start]
    bare = head.rstrip(" :.")  # "US$: 12", "$.75"
    found = (
        currency.before(head, glued=True)
        or currency.before(head.rstrip(), glued=False)
        or currency.before(bare, glued=False)
    )
    if found is None:
        return None, start
    begin = line.rindex(found.sign, since, start)
    if not found.certain:  # "NZD $5", "US $5": a code in front of the sign says which
        front = line[max(since, begin - 24) : begin].rstrip()
        further = currency.before(front, glued=False)
        if further is not None and further.certain:
            return further, line.rindex(further.sign, since, begin)
    return found, begin


def _trail(line: str, number_end: int, end: int, lead: Currency | None) -> tuple[Currency | None, int]:
    for at in (number_end, end):
        tail = line[at : at + 24]
        gap = len(tail) - len(tail.lstrip())
        found = currency.after(tail.lstrip())
        if found is not None and (
            lead is None or (not lead.certain and found.certain and len(found.sign) == 3)
        ):
            return found, at + gap + len(found.sign)
    return None, end if line[end - 1] in "-–—" else number_end


def _past_dash(line: str, end: int) -> int:
    dash = _DASH_FOR_ZEROS.match(line, end)
    return dash.end() if dash else end


def _agreed(lead: Currency | None, trail: Currency | None) -> Currency | None:
    if lead is not None and trail is not None and not lead.certain:
        return trail
    return lead or trail


def _in_thousandths(chosen: Currency | None, written: str) -> bool:
    code = chosen.code if chosen else None
    return currency.minor_digits(code) == 3 and ("." in written or code == "TND")


def _judged(amount: Amount, line: str, since: int) -> Amount:
    before, after = line[since : amount.start], line[amount.end : amount.end + 60]
    if (refusal := _refusal(amount, line, before, after)) is not None:
        return replace(amount, refusal=refusal)
    bound = "from" if FROM.search(before) else "up to" if UP_TO.search(before) else None
    role = (
        AmountRole.LIST if LIST.search(before) else AmountRole.NOW if NOW.search(before) else AmountRole.PLAIN
    )
    per = unit_of(after)
    return replace(amount, role=AmountRole.UNIT if per not in (None, "each") else role, per=per, bound=bound)


def _refusal(amount: Amount, line: str, before: str, after: str) -> str | None:
    clause = re.split(r"[!?;|•]|\.\s", before)[-1]
    if INSTALMENT.search(line[max(0, amount.start - 30) : amount.start]):
        return "one of several instalments"
    for pattern, reason in REFUSED_BEFORE:
        if pattern.search(clause) and not BEFORE_SAVING.search(clause):
            return reason
    for pattern, reason in REFUSED_AFTER:
        if pattern.match(after):
            return reason
    if _MINUS.search(line, max(0, amount.start - 2), amount.start):
        return "a deduction, not a price"
    return None if amount.currency is not None else _unsigned(before, after)


def _unsigned(before: str, after: str) -> str | None:
    if QUANTITY.match(after):
        return "a quantity, a rating or a size"
    if IDENTIFIER.search(before):
        return "a code or a number of something"
    if before[-1:].isalnum() or after[:1].isalnum() or before[-1:] in ("_", "/", "@") or after[:1] == "_":
        return "part of a word"
    if before[-1:] == "(" and after[:1] == ")":
        return "a count in brackets"
    return None
