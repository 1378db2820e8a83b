"""Month names, and the words for "days ago", in the languages of the web's larger countries."""

import unicodedata
from typing import Final

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
