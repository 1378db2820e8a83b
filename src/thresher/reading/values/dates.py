"""The date that a text names, or why it names none for certain; and the date a posting was posted.

`03/04/2025` is the third of April or the fourth of March: without a hint of the country it is not read at
all. A year is never invented, a deadline never guessed, and "30+ days ago" is read as "then or earlier".
Today is an argument.
"""

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta, timezone
from typing import Final

# Month names and words for "days ago", in many languages.

# From January on, each with its short forms. Accents are dropped before comparing.
_MONTHS: Final = """
en jan january|feb february|mar march|apr april|may|jun june|jul july|aug august|sep sept september|oct october|nov november|dec december
de jan januar janner|feb februar feber|mar marz mrz maerz|apr april|mai|jun juni|jul juli|aug august|sep sept september|okt oktober|nov november|dez dezember
fr janv janvier|fevr fev fevrier|mars|avr avril|mai|juin|juil juillet|aout|sept septembre|oct octobre|nov novembre|dec decembre
es ene enero|feb febrero|mar marzo|abr abril|may mayo|jun junio|jul julio|ago agosto|sep sept septiembre setiembre|oct octubre|nov noviembre|dic diciembre
pt jan janeiro|fev fevereiro|mar marco|abr abril|mai maio|jun junho|jul julho|ago agosto|set setembro|out outubro|nov novembro|dez dezembro
it gen gennaio|feb febbraio|mar marzo|apr aprile|mag maggio|giu giugno|lug luglio|ago agosto|set sett settembre|ott ottobre|nov novembre|dic dicembre
nl jan januari|feb februari|mrt maart|apr april|mei|jun juni|jul juli|aug augustus|sep sept september|okt oktober|nov november|dec december
sv jan januari|feb februari|mar mars|apr april|maj|jun juni|jul juli|aug augusti|sep sept september|okt oktober|nov november|dec december
da jan januar|feb februar|mar marts|apr april|maj|jun juni|jul juli|aug august|sep sept september|okt oktober|nov november|dec december
nb jan januar|feb februar|mars|apr april|mai|juni|juli|aug august|sep sept september|okt oktober|nov november|des desember
fi tammikuuta tammikuu|helmikuuta helmikuu|maaliskuuta maaliskuu|huhtikuuta huhtikuu|toukokuuta toukokuu|kesakuuta kesakuu|heinakuuta heinakuu|elokuuta elokuu|syyskuuta syyskuu|lokakuuta lokakuu|marraskuuta marraskuu|joulukuuta joulukuu
pl sty stycznia styczen|lut lutego luty|mar marca marzec|kwi kwietnia kwiecien|maj maja|cze czerwca czerwiec|lip lipca lipiec|sie sierpnia sierpien|wrz wrzesnia wrzesien|paz pazdziernika pazdziernik|lis listopada listopad|gru grudnia grudzien
cs ledna leden|unora unor|brezna brezen|dubna duben|kvetna kveten|cervna cerven|cervence cervenec|srpna srpen|zari|rijna rijen|listopadu|prosince prosinec
ro ian ianuarie|feb februarie|mar martie|apr aprilie|mai|iun iunie|iul iulie|aug august|sept septembrie|oct octombrie|noi noiembrie|dec decembrie
hu jan januar|feb februar|marc marcius|apr aprilis|maj majus|jun junius|jul julius|aug augusztus|szept szeptember|okt oktober|nov november|dec december
tr oca ocak|sub subat|mar mart|nis nisan|may mayis|haz haziran|tem temmuz|agu agustos|eyl eylul|eki ekim|kas kasim|ara aralik
ru янв января январь|фев февр февраля февраль|мар марта март|апр апреля апрель|мая май|июн июня июнь|июл июля июль|авг августа август|сен сент сентября сентябрь|окт октября октябрь|ноя нояб ноября ноябрь|дек декабря декабрь
uk січня січень|лютого лютии|березня березень|квітня квітень|травня травень|червня червень|липня липень|серпня серпень|вересня вересень|жовтня жовтень|листопада листопад|грудня грудень
"""

# Word for the unit, in days; hours and less are today. "30+" and "over a month" are handled where they are
# read.
_UNITS: Final = {
    0: """second seconds sec secs minute minutes min mins hour hours hr hrs h sekunde sekunden minuten stunde stunden std heure heures
       segundo segundos minuto minutos hora horas secondi minuti ora ore uur uren minuut timme timmar minuter time timer minutter godzina
       godziny godzin minut minuty hodina hodiny hodin час часа часов минут минуты годин""",
    1: """day days d tag tage tagen jour jours dia dias giorno giorni dag dagen dagar dage dager dni dzien den dny paiva paivaa zi zile
       nap gun день дня днеи дни дні днів""",
    7: """week weeks w wk wks woche wochen semaine semaines semana semanas settimana settimane weken vecka veckor uge uger uke uker tydzien
       tygodnie tygodni tyden tydny tydnu viikko viikkoa hafta неделя недели недель неделю тиждень тижні тижнів""",
    30: """month months mo mos monat monate monaten mois mes meses mese mesi maand maanden manad manader maned maneder miesiac miesiace
        miesiecy mesic mesice mesicu kuukausi kuukautta ay месяц месяца месяцев місяць місяці місяців""",
    365: """year years y yr yrs jahr jahre jahren an ans annee annees ano anos anno anni jaar ar rok lata lat год года лет рік роки
         років""",
}
# Before or behind the count: "vor 3 Tagen", "3 days ago". Elsewhere they mean something else ("2 Tage vor
# Ort").
AGO_BEFORE: Final = "vor|hace|ha|il y a|pred|prije|for"
AGO_BEHIND: Final = "ago|atras|fa|geleden|sedan|siden|temu|назад|тому|sitten|once"
_TODAY: Final = (
    "today heute aujourd'hui hoy hoje oggi vandaag idag dzis dzisiaj dnes сегодня сьогодні tanaan bugun"
)
_YESTERDAY: Final = "yesterday gestern ayer ontem ieri gisteren igar wczoraj vcera вчера вчора eilen"


def folded(text: str) -> str:
    """In small letters, without accents: `Décembre` is `decembre`."""
    apart = unicodedata.normalize(
        "NFKD", text.casefold().replace("ł", "l").replace("ø", "o").replace("ı", "i")
    )
    return "".join(char for char in apart if not unicodedata.combining(char))


MONTHS: Final[dict[str, int]] = {
    folded(name): number
    for line in _MONTHS.strip().splitlines()
    for number, names in enumerate(line.split(" ", 1)[1].split("|"), 1)
    for name in names.split()
}
UNIT_DAYS: Final[dict[str, int]] = {
    folded(word): days for days, words in _UNITS.items() for word in words.split()
}
TODAY: Final = frozenset(_TODAY.split())
YESTERDAY: Final = frozenset(_YESTERDAY.split())


MAX_LENGTH = 300
# Countries that write the month first. For "en" alone there is no telling.
_MONTH_FIRST = frozenset({"en-us", "en-ph", "es-us"})
_TOLD = re.compile(
    r"(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,]\d{1,9})?)?\s?(am\b|pm\b|a\.m\.|p\.m\.)?\s?(z\b|utc\b|gmt\b|[+-]\d{2}:?\d{2})?",
    re.IGNORECASE,
)
_ISO = re.compile(r"(?<!\d)(\d{4})([-/.])(\d{1,2})\2(\d{1,2})(?!\d)")
_COMPACT = re.compile(r"((?:19|20)\d{2})(\d{2})(\d{2})(?:t\d{4,6}z?)?", re.IGNORECASE)
_MONTH_ONLY = re.compile(r"(\d{4})-(\d{2})")
_YEAR_ONLY = re.compile(r"(?:19|20)\d{2}")
_EPOCH = re.compile(r"\d{10}(?:\d{3})?(?:\.\d{1,9})?")
_NUMERIC = re.compile(r"(?<![\d/.-])(\d{1,2})([/.-])(\d{1,2})\2(\d{4}|\d{2})(?![\d/-])")
_NAMED = re.compile(r"[^\W\d_]{3,12}")
_DAY_BEFORE = re.compile(r"(?<!\d)(\d{1,2})(?:st|nd|rd|th|er|o|a|\.)?[\s\-/]{0,2}(?:de |of |di )?$")
_DAY_AFTER = re.compile(r"[.\s\-/]{0,3}(\d{1,2})(?:st|nd|rd|th|\.)?(?![\d:])")
_YEAR_AFTER = re.compile(r"[\s.,\-/]{0,3}(?:de |del |of )?['’]?(\d{4}|\d{2})(?![\d:])")
_YEAR_BEFORE = re.compile(r"(?<!\d)(\d{4})[.\s\-/]{1,3}$")
_AGO = re.compile(r"(\d{1,4})\s?(\+)?\s?(?:\+\s?)?([^\W\d_]{1,12})")
_ONE_AGO = re.compile(r"\b(?:an?|one|ein(?:er|em)?|une?|una|um|uma|een|en|ett|et)\s([^\W\d_]{3,12})")
_AT_LEAST = re.compile(r"\b(?:over|more than|uber|mehr als|plus de|mas de|mais de|oltre|meer dan)\b")
_PREFIX = re.compile(rf"\b(?:{AGO_BEFORE})\b[^\d]{{0,15}}$")
_SUFFIX = re.compile(rf"\.?\s?(?:{AGO_BEHIND})\b")
_BARE = re.compile(r"\d{1,3}\+?[a-z]{1,2}")  # "5d", "30+d"
_POSTED = re.compile(
    r"\b(?:posted|published|updated|added|veroffentlicht|publie|publicado|pubblicato|geplaatst)\b"
)


@dataclass(frozen=True, slots=True)
class Day:
    """A day as read from `text`. `precision` is "day", "month" or "year"; of a month or a year the first day
    stands for it.

    `approximate` says that it was counted back in weeks or months; `or_earlier` that the text gives only the
    latest day it may have been. `at` is the moment in UTC where the text names a time with its zone.
    """

    day: date
    text: str
    precision: str = "day"
    approximate: bool = False
    or_earlier: bool = False
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class NoDay:
    """No day is named for certain, and why."""

    reason: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class _Reading:
    line: str
    today: date
    day_first: bool | None


def read_date(
    text: str, *, today: date, day_first: bool | None = None, language: str | None = None
) -> Day | None:
    """The day that a text names, or None."""
    found = read_day(text, today=today, day_first=day_first, language=language)
    return found if isinstance(found, Day) else None


def read_day(
    text: str, *, today: date, day_first: bool | None = None, language: str | None = None
) -> Day | NoDay:
    """The day that a text names, or the reason why none is certain. `day_first` and `language` decide between
    3/4 and 4/3.
    """
    if len(text) > MAX_LENGTH:
        return NoDay(
            f"the text has {len(text):,} characters; give the part with the date (at most {MAX_LENGTH})",
            text[:80],
        )
    line = " ".join(text.split())
    reading = _Reading(folded(line), today, _order(language) if day_first is None else day_first)
    for rule in RULES:
        if (found := rule(reading)) is not None:
            return replace(found, text=line)
    return NoDay("no date in it" if line else "an empty text", line)


def _order(language: str | None) -> bool | None:
    """Whether the day comes first, where the language tells."""
    spoken = (language or "").replace("_", "-").lower()
    if spoken in _MONTH_FIRST:
        return False
    return None if spoken in ("", "en", "en-ca") else True


def _day(
    year: int, month: int, day: int, reading: _Reading, text: str, precision: str = "day"
) -> Day | NoDay:
    try:
        found = date(year, month, day)
    except ValueError:
        return NoDay(f"{text!r} is not in the calendar", reading.line)
    if not 1900 <= year <= 2200:
        return NoDay(f"the year {year} is not plausible", reading.line)
    return Day(found, text, precision, at=_moment(found, reading.line) if precision == "day" else None)


def _moment(day: date, line: str) -> datetime | None:
    told = _TOLD.search(line)
    if told is None or told[5] is None:
        return None
    hour, minute, second = int(told[1]), int(told[2]), int(told[3] or 0)
    if told[4]:
        hour = hour % 12 + (12 if told[4].startswith("p") else 0)
    try:
        there = datetime(day.year, day.month, day.day, hour, minute, min(second, 59), tzinfo=_zone(told[5]))
        return there.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _zone(written: str) -> timezone:
    if written[0] not in "+-":
        return UTC
    hours, minutes = int(written[1:3]), int(written[-2:])
    return timezone((-1 if written[0] == "-" else 1) * timedelta(hours=hours, minutes=minutes))


def _epoch(reading: _Reading) -> Day | NoDay | None:
    if not _EPOCH.fullmatch(reading.line):
        return None
    seconds = float(reading.line) / (1_000 if len(reading.line.partition(".")[0]) == 13 else 1)
    at = datetime.fromtimestamp(seconds, UTC)
    return (
        Day(at.date(), reading.line, at=at)
        if at.year < 2100
        else NoDay("a number too large to be seconds since 1970", reading.line)
    )


def _iso(reading: _Reading) -> Day | NoDay | None:
    match = _ISO.search(reading.line) or _COMPACT.fullmatch(reading.line)
    if match is None:
        return _month_or_year(reading)
    year, month, day = (int(part) for part in match.groups() if part.isdigit())
    return _day(year, month, day, reading, match[0])


def _month_or_year(reading: _Reading) -> Day | NoDay | None:
    if (month := _MONTH_ONLY.fullmatch(reading.line)) is not None:
        return _day(int(month[1]), int(month[2]), 1, reading, month[0], "month")
    if _YEAR_ONLY.fullmatch(reading.line):
        return _day(int(reading.line), 1, 1, reading, reading.line, "year")
    return None


def _numeric(reading: _Reading) -> Day | NoDay | None:
    match = _NUMERIC.search(reading.line)
    if match is None:
        return None
    first, second, year = int(match[1]), int(match[3]), _year(match[4], reading.today)
    if first > 12 or first == second or match[2] == ".":  # with points, the day comes first everywhere
        return _day(year, second, first, reading, match[0])
    if second > 12:
        return _day(year, first, second, reading, match[0])
    if reading.day_first is None:
        return NoDay(
            f"{match[0]} may be day and month or month and day; say which, or give the language", reading.line
        )
    day, month = (first, second) if reading.day_first else (second, first)
    return _day(year, month, day, reading, match[0])


def _year(written: str, today: date) -> int:
    if len(written) == 4:
        return int(written)
    short = int(written)
    return short + (2000 if short <= today.year % 100 + 10 else 1900)


def _named(reading: _Reading) -> Day | NoDay | None:
    doubt: NoDay | None = None
    for word in _NAMED.finditer(reading.line):
        month = MONTHS.get(word[0])
        if month is None:
            continue
        found = _around(reading, word, month)
        if isinstance(found, Day):
            return found
        doubt = doubt or found
    return doubt


def _around(reading: _Reading, word: re.Match[str], month: int) -> Day | NoDay | None:
    """The day and the year on either side of a month's name."""
    before, after = reading.line[: word.start()], reading.line[word.end() :]
    front, back = _DAY_BEFORE.search(before), _DAY_AFTER.match(after)
    if front is not None and (year := _YEAR_AFTER.match(after)) is not None:  # 5 December 2025
        return _day(
            _year(year[1], reading.today),
            month,
            int(front[1]),
            reading,
            reading.line[front.start() : word.end() + year.end()],
        )
    if back is not None:
        if (year := _YEAR_AFTER.match(after, back.end())) is not None and len(
            year[1]
        ) == 4:  # December 5, 2025
            return _day(
                int(year[1]),
                month,
                int(back[1]),
                reading,
                reading.line[word.start() : word.end() + year.end()],
            )
        if (year := _YEAR_BEFORE.search(before)) is not None:  # 2025 December 5
            return _day(
                int(year[1]),
                month,
                int(back[1]),
                reading,
                reading.line[year.start() : word.end() + back.end()],
            )
    if (year := _YEAR_AFTER.match(after)) is not None and len(year[1]) == 4:  # December 2025
        return _day(
            int(year[1]), month, 1, reading, reading.line[word.start() : word.end() + year.end()], "month"
        )
    return NoDay("a day without a year", reading.line) if front or back else None


def _relative(reading: _Reading) -> Day | NoDay | None:
    line = reading.line
    words = set(re.findall(r"[^\W\d_]+(?:'[^\W\d_]+)?", line))
    if not words.isdisjoint(TODAY) or any(
        phrase in line for phrase in ("just posted", "just now", "i dag", "new today")
    ):
        return Day(reading.today, line)
    if not words.isdisjoint(YESTERDAY) or line in (
        "hier",
        "i gar",
        "i gaar",
    ):  # "hier" within a German text is "here"
        return Day(reading.today - timedelta(days=1), line)
    counted = [(each, int(each[1]), bool(each[2]), each[3]) for each in _AGO.finditer(line)]
    counted += [(each, 1, False, each[1]) for each in _ONE_AGO.finditer(line)]
    for match, count, more, unit in counted:
        if unit in UNIT_DAYS and count * UNIT_DAYS[unit] <= 36_500 and _looks_back(line, match):
            days = timedelta(days=count * UNIT_DAYS[unit])
            return Day(
                reading.today - days,
                line,
                approximate=UNIT_DAYS[unit] > 1,
                or_earlier=more or bool(_AT_LEAST.search(line)),
            )
    return None


def _looks_back(line: str, match: re.Match[str]) -> bool:
    """Whether the words around a span of time say that it has passed: "apply within 5 days" does not."""
    before = line[: match.start()]
    return bool(
        _SUFFIX.match(line, match.end())
        or _PREFIX.search(before)
        or _POSTED.search(before)
        or _BARE.fullmatch(line)
    )


# The most exact first: a text may hold both a date and "3 days ago".
RULES: tuple[Callable[[_Reading], Day | NoDay | None], ...] = (_epoch, _iso, _named, _numeric, _relative)


# The posting date, where the source names one. "30+ days ago" and "May 2024" name none.


def posted_on(text: str | None, today: date, *, day_first: bool | None = None) -> date | None:
    """The day for certain, or None: a bound and a month are no day. `day_first` is for sources known to write
    3/4 one way.
    """
    found = read_date(text, today=today, day_first=day_first) if text else None
    return found.day if found and found.precision == "day" and not found.or_earlier else None
