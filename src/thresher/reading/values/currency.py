"""Which currency a sign, a code or a word means, and how many digits its smallest unit has.

A sign is not always enough: `$` is written in twenty countries, `kr` in four. Such a sign means its commonest
currency and is marked as doubtful, or means none by itself; a hint from the page (a meta tag, a neighbouring
price) decides.
"""

import re
from dataclasses import dataclass
from functools import cache
from typing import Final

# Digits after the decimal point where it is not two (ISO 4217).
_NO_DIGITS: Final = "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF"
_THREE_DIGITS: Final = "BHD IQD JOD KWD LYD OMR TND"
MINOR_DIGITS: Final = dict.fromkeys(_NO_DIGITS.split(), 0) | dict.fromkeys(_THREE_DIGITS.split(), 3)

_CODES: Final = """
    AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF CLP CNY COP
    CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ GYD HKD HNL HRK HTG HUF IDR ILS INR IQD IRR
    ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR
    MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP SLE SLL SOS SRD SSP
    STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH UGX USD UYU UZS VES VND VUV WST XAF XCD XOF XPF YER ZAR ZMW ZWL
    BTC DEM FRF ITL ESP PTE ATS BEF NLG FIM GRD IEP LTL LVL EEK SKK CUC
"""
CODES: Final = frozenset(_CODES.split())
# Codes that are words of English as well: in small letters they are the word.
_WORDS: Final = {
    "all",
    "bam",
    "bob",
    "cad",
    "cup",
    "gel",
    "lak",
    "mad",
    "mop",
    "nad",
    "pen",
    "ron",
    "sos",
    "top",
    "try",
}

# "sign CODE": means it. "sign CODE~ OTHER OTHER": probably the first. "sign ? CODE CODE": one of these, no
# telling which.
_SIGNS: Final = """
€ EUR|£ GBP|￡ GBP|₤ GBP~ ITL|$ USD~ CAD AUD NZD SGD HKD MXN CLP COP ARS TWD BBD JMD|＄ USD~ CAD AUD|¥ JPY~ CNY|￥ JPY~ CNY|₹ INR
₽ RUB|₩ KRW|₪ ILS|₫ VND|₴ UAH|₱ PHP~ CUP|₦ NGN|₡ CRC|₲ PYG|₮ MNT|₭ LAK|₺ TRY|₼ AZN|₾ GEL|₸ KZT|₵ GHS|₿ BTC|Ƀ BTC|฿ THB|៛ KHR|৳ BDT
֏ AMD|؋ AFN|﷼ SAR~ IRR OMR QAR YER|₨ PKR~ INR LKR NPR MUR|ƒ AWG~ ANG|₣ FRF~ CHF|₶ FRF~|₧ ESP|₯ GRD|¤ ?
US$ USD|USD$ USD|US $ USD|U.S.$ USD|A$ AUD|AU$ AUD|AU $ AUD|AUD$ AUD|C$ CAD~ NIO|CA$ CAD|CA $ CAD|CAN$ CAD|CAD$ CAD|CDN$ CAD|CDN CAD
NZ$ NZD|NZ $ NZD|NZD$ NZD|S$ SGD|SG$ SGD|SGD$ SGD|HK$ HKD|HKD$ HKD|NT$ TWD|NTD TWD|NT TWD|R$ BRL|MX$ MXN|Mex$ MXN|MXN$ MXN|AR$ ARS
CL$ CLP|CLP$ CLP|CO$ COP|COL$ COP|RD$ DOP|J$ JMD|JA$ JMD|TT$ TTD|T$ TOP|BZ$ BZD|B$ BND~ BSD|BN$ BND|BS$ BSD|Bds$ BBD|EC$ XCD|FJ$ FJD
G$ GYD|GY$ GYD|L$ LRD|LD$ LRD|LD LRD|N$ NAD|SI$ SBD|SR$ SRD|Z$ ZWL|ZW$ ZWL|MOP$ MOP|CUC$ CUC|$U UYU|$b BOB|$MN CUP|WS$ WST|CV$ CVE
E£ EGP|EG£ EGP|LE EGP|L.E. EGP|LB£ LBP|SY£ SYP|IR£ IEP|CN¥ CNY|JP¥ JPY|RMB CNY|GH₵ GHS|R₣ RWF
zł PLN|Zł PLN|ZŁ PLN|zl PLN|zł. PLN|zloty PLN|złotych PLN|Kč CZK|kč CZK|KČ CZK|Kc CZK~|Kčs CZK~|Ft HUF|Ft. HUF|forint HUF
lei RON~ MDL|Lei RON~ MDL|LEI RON~ MDL|leu RON~ MDL|leva BGN|лв BGN|лв. BGN|лева BGN|kn HRK|kuna HRK|din RSD~ MKD|din. RSD~|дин RSD~
дин. RSD~|Дин RSD~|Дин. RSD~|Dinara RSD~|dinara RSD~|динар RSD~|динара RSD~|ден MKD|ден. MKD|ДЕН MKD|KM BAM|КМ BAM|км BAM|Lek ALL
lek ALL|Lekë ALL|€uro EUR|euro EUR|Euro EUR|EURO EUR|euros EUR|Euros EUR|eur EUR|Eur EUR|евро EUR|ευρώ EUR
kr ? SEK NOK DKK ISK|Kr ? SEK NOK DKK ISK|KR ? SEK NOK DKK ISK|kr. DKK~ NOK SEK ISK|Kr. DKK~ NOK SEK ISK|kronor SEK|kroner ? NOK DKK
kron ? SEK CZK|Dkr DKK|DKr DKK|Nkr NOK|NKr NOK|Skr SEK|SKr SEK|Ikr ISK|Íkr ISK
Fr. CHF~|Fr CHF~|fr. CHF~|SFr CHF|SFr. CHF|Sfr. CHF|sFr. CHF|Fr.- CHF|CHf CHF|Chf CHF|franc ? CHF XOF XAF|francs ? CHF XOF XAF
руб RUB|руб. RUB|Руб RUB|Руб. RUB|РУБ RUB|РУБ. RUB|рублей RUB|рубля RUB|рубль RUB|р. RUB|р RUB|Р RUB|Р. RUB|Rub RUB|rub. RUB|RUR RUB
грн UAH|грн. UAH|ГРН UAH|Грн UAH|Грн. UAH|гривень UAH|гривен UAH|hrn UAH|UAH. UAH|Br BYN~ ETB|Rbl BYN~|бел. руб. BYN|тг KZT|тг. KZT
тнг KZT|тенге KZT|сум UZS|сўм UZS|so'm UZS|soʻm UZS|som UZS~ KGS|сом KGS|с KGS~|ман. AZN|манат AZN~ TMT|лари GEL|lari GEL|ლ GEL|ლარი GEL
TL TRY|Tl TRY|tl TRY|₺. TRY|lira TRY~ ITL|Lira TRY~ ITL|YTL TRY|nis ILS|NIS ILS|ש"ח ILS|ש״ח ILS|ש'ח ILS|shekel ILS|shekels ILS
Rs INR~ PKR LKR NPR MUR|Rs. INR~ PKR LKR NPR MUR|rs INR~ PKR|rs. INR~ PKR|RS INR~ PKR|RS. INR~|Re INR~ PKR|Re. INR~|र INR~ NPR|रु INR~ NPR
रू NPR~ INR|रू. NPR~|ரூ INR~ LKR|රු LKR|රු. LKR|rupees INR~ PKR|rupee INR~|টাকা BDT|Tk BDT|Tk. BDT|tk BDT|Nu BTN|Nu. BTN|Rf MVR
Rp IDR|Rp. IDR|RP IDR|rp IDR|RM MYR|Rm MYR|đ VND|Đ VND|vnđ VND|VNĐ VND|đồng VND|บาท THB|baht THB|Baht THB|B/. PAB|Php PHP|Ks MMK
円 JPY|yen JPY|Yen JPY|YEN JPY|圓 TWD~ HKD JPY|圆 CNY|元 CNY~ TWD HKD|块 CNY~|人民币 CNY|人民幣 CNY|yuan CNY|Yuan CNY|원 KRW|won KRW~
S/. PEN|S/ PEN|soles PEN|Bs BOB~ VES|Bs. BOB~ VES|Bs.S VES|Bs.F VES|B/ PAB|₲s PYG|Gs PYG|Gs. PYG|pesos ? MXN ARS COP CLP|peso ? MXN ARS COP
KSh KES|Ksh KES|KShs KES|Kshs KES|KSH KES|TSh TZS|Tsh TZS|TSH TZS|USh UGX|Ush UGX|UGX. UGX|Sh ? KES TZS UGX SOS|GH¢ GHS|GHC GHS|Nfk ERN
ናቕፋ ERN|نافكا ERN|ብር ETB|birr ETB|Birr ETB|FBu BIF|Fbu BIF|FRw RWF|RF RWF~|Fdj DJF|FG GNF~|GFr GNF|CFA XOF~ XAF|FCFA XAF~ XOF|F CFA XOF~ XAF
Ar MGA|MK MWK|ZK ZMW|MT MZN~|MTn MZN|Kz AOA|kwz AOA|Db STN|UM MRU|Esc PTE~ CVE|Esc. PTE~ CVE|VT VUV|Vt VUV|DT TND|DA DZD|Dh AED~ MAD
Dhs AED~ MAD|dh MAD~ AED|Dh. AED~|DH MAD~ AED|SAR. SAR|SR SAR|QR QAR|BD BHD|KD KWD|K.D. KWD|OR OMR~|JD JOD|ID IQD~|Sl ? SLE SOS
د.إ AED|درهم AED~ MAD|ر.س SAR|ريال SAR~ QAR OMR YER|﷼. SAR~|ریال IRR|تومان IRR~|ج.م EGP|جنيه EGP~ SDG|جم EGP|ج.س SDG|ج.س. SDG
د.ك KWD|دينار كويتي KWD|د.ب BHD|.د.ب BHD|د.ع IQD|ع.د IQD|د.أ JOD|د.ا JOD|دينار أردني JOD|دينار ? KWD JOD IQD BHD TND DZD LYD|د.ت TND
د.ج DZD|دج DZD|د.م MAD|د.ل LYD|ل.د LYD|ل.س SYP|ل.ل LBP|ر.ع OMR|ر.ق QAR|ر.ي YER|ش.ج ILS|ش.ص SOS
dollar USD~ CAD AUD|dollars USD~ CAD AUD|Dollar USD~|US dollars USD|pound GBP~|pounds GBP~|stg GBP|pesetas ESP|DM DEM|reais BRL|rand ZAR
"""
# Signs that are common letters: only glued to the front of an amount do they mean money ("R273.00"). Behind
# it they are units.
_PREFIXES: Final = {
    "R": ("ZAR", True),
    "Q": ("GTQ", True),
    "L": ("HNL", False),
    "K": ("ZMW", False),
    "P": ("PHP", False),
}
# A hundredth of the unit, and what the unit then is.
CENTS: Final = {
    "¢": ("USD", False),
    "￠": ("USD", False),
    "cent": ("", False),
    "cents": ("", False),
    "Cent": ("EUR", False),
    "p": ("GBP", False),
    "pence": ("GBP", True),
    "коп": ("RUB", False),
    "коп.": ("RUB", False),
    "øre": ("", False),
    "öre": ("SEK", True),
    "centimes": ("", False),
    "c": ("", False),
}
MAX_LENGTH: Final = 16


@dataclass(frozen=True, slots=True)
class Currency:
    """What a sign means: the code if one is likely, whether that is certain, and what else it may mean."""

    sign: str
    code: str | None
    certain: bool = True
    others: tuple[str, ...] = ()

    def decided_by(self, hint: "Currency | None") -> "Currency":
        """The same sign, with a doubt settled by what stands elsewhere on the page."""
        if self.certain or hint is None or hint.code is None or hint.code not in (self.code, *self.others):
            return self
        return Currency(self.sign, hint.code, hint.certain)


def minor_digits(code: str | None) -> int:
    """How many digits the smallest unit has; two where nothing is known."""
    return MINOR_DIGITS.get(code or "", 2)


@cache
def signs() -> dict[str, Currency]:
    """Every sign and word we know, as it is written."""
    found = {}
    for line in _SIGNS.strip().splitlines():
        for entry in line.split("|"):
            sign, codes = _halves(entry)
            found[sign] = _meaning(sign, codes)
    return found


def _halves(entry: str) -> tuple[str, list[str]]:
    words = entry.split(" ")
    cut = next(at for at, word in enumerate(words) if at and (word == "?" or word.rstrip("~") in CODES))
    return " ".join(words[:cut]), words[cut:]


def _meaning(sign: str, codes: list[str]) -> Currency:
    if codes[0] == "?":
        return Currency(sign, None, certain=False, others=tuple(codes[1:]))
    return Currency(sign, codes[0].rstrip("~"), not codes[0].endswith("~"), tuple(codes[1:]))


def of_word(word: str) -> Currency | None:
    """The currency that a whole word or sign means, be it a code, a sign or a name."""
    if (known := signs().get(word)) is not None:
        return known
    code = word.upper()
    if len(word) == 3 and code in CODES and word.isascii() and (word == code or word.lower() not in _WORDS):
        return Currency(word, code)
    return None


def before(text: str, *, glued: bool) -> Currency | None:
    """The currency whose sign ends `text`: the longest wins, and it may not be the tail of a longer word."""
    for size in range(min(MAX_LENGTH, len(text)), 0, -1):
        sign = text[-size:]
        if sign[0].isspace() or _splits_word(text[-size - 1 : -size], sign[0]):
            continue
        if (found := of_word(sign)) is not None:
            return found
        if glued and sign in _PREFIXES:
            code, certain = _PREFIXES[sign]
            return Currency(sign, code, certain)
    return None


def after(text: str) -> Currency | None:
    """The currency whose sign begins `text`."""
    for size in range(min(MAX_LENGTH, len(text)), 0, -1):
        sign = text[:size]
        if sign[-1].isspace() or _splits_word(sign[-1], text[size : size + 1]):
            continue
        if (found := of_word(sign)) is not None:
            return found
    return None


def cents_after(text: str) -> Currency | None:
    """The currency whose hundredths begin `text`: `¢`, `cents`, `p`."""
    for size in range(min(8, len(text)), 0, -1):
        sign = text[:size]
        if sign in CENTS and not _splits_word(sign[-1], text[size : size + 1]):
            code, certain = CENTS[sign]
            return Currency(sign, code or None, certain)
    return None


def _splits_word(left: str, right: str) -> bool:
    return bool(left and right) and left.isalpha() and right.isalpha()


def anywhere(text: str | None) -> Currency | None:
    """The first currency named in a text, a certain one before a doubtful one. For hints, not for prices."""
    words = re.split(r"[\s()/]+", (text or "")[:500])
    found = [each for each in (_inside(word.strip(":;,!*[]")) for word in words) if each is not None]
    return next((each for each in found if each.certain), found[0] if found else None)


def _inside(word: str) -> Currency | None:
    bare = word.strip("0123456789.,'’-–+")
    if (whole := of_word(word) or of_word(bare)) is not None:
        return whole
    marks = [char for char in word if not char.isalnum() and char in signs()]
    return signs()[marks[0]] if marks else None
