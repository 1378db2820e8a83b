"""The words around an amount that say what it is: a saving, shipping, a unit, what it cost before.

Word lists of a dozen languages, each turned into one pattern here, so that the rules that use them can be
read.
"""

import re
from typing import Final


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
    "month": r"month|mo|mth|monat|mois|mes|mês|mese|maand|miesiąc|мес\w*",
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
    r"\s*(?:(?:/|\bper\b|\bpro\b|\bpar\b|\bpor\b|\bal?\b|\ban\b|\bje\b|\bza\b|\bà l['’]|\bp\.)\s*(?:1 )?"
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
