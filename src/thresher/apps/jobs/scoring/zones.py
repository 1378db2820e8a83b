"""The hours of time difference between a person and a team. A place without a certain time zone has none."""

import re
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

from thresher.core.evidence import Place
from thresher.hiring.opening import Spot

HOUR = timedelta(hours=1)
_AROUND = 60
_CUES = (
    "time zone",
    "timezone",
    "time-zone",
    "hours overlap",
    "overlap with",
    "core hours",
    "working hours",
    "business hours",
)
_MAX_CUES = 5

_US = {
    "America/Los_Angeles": "CA OR WA NV",
    "America/Denver": "CO UT MT WY NM ID",
    "America/Phoenix": "AZ",
    "America/Chicago": "TX IL MN WI MO IA KS NE OK AR LA MS AL TN ND SD",
    "America/New_York": "NY NJ MA PA FL GA NC SC VA WV MD DC DE CT RI VT NH ME OH MI IN KY",
    "America/Anchorage": "AK",
    "Pacific/Honolulu": "HI",
}
_CA = {
    "America/Vancouver": "BC YT",
    "America/Edmonton": "AB NT",
    "America/Regina": "SK",
    "America/Winnipeg": "MB",
    "America/Toronto": "ON QC",
    "America/Halifax": "NS NB PE",
    "America/St_Johns": "NL",
}
_AU = {
    "Australia/Sydney": "NSW ACT",
    "Australia/Melbourne": "VIC",
    "Australia/Hobart": "TAS",
    "Australia/Brisbane": "QLD",
    "Australia/Adelaide": "SA",
    "Australia/Darwin": "NT",
    "Australia/Perth": "WA",
}
_BR = {
    "America/Sao_Paulo": "SP RJ MG PR SC RS DF GO ES BA",
    "America/Fortaleza": "CE PE RN PB",
    "America/Manaus": "AM",
}
_REGIONS = {
    (country, region): zone
    for country, table in (("US", _US), ("CA", _CA), ("AU", _AU), ("BR", _BR))
    for zone, regions in table.items()
    for region in regions.split()
}
# Countries with one time zone, or with one that all but a few small places use.
_COUNTRIES = {
    code: zone
    for zone, codes in {
        "Europe/London": "GB UK IM GG JE",
        "Europe/Dublin": "IE",
        "Europe/Lisbon": "PT",
        "Atlantic/Reykjavik": "IS",
        "Europe/Berlin": "DE AT CH FR NL BE LU DK NO SE PL CZ SK HU IT ES SI HR RS BA ME MK AL MT LI",
        "Europe/Athens": "GR FI EE LV LT RO BG CY UA MD",
        "Europe/Istanbul": "TR",
        "Europe/Minsk": "BY",
        "Asia/Jerusalem": "IL",
        "Africa/Cairo": "EG",
        "Africa/Casablanca": "MA",
        "Africa/Lagos": "NG TN DZ",
        "Africa/Johannesburg": "ZA",
        "Africa/Nairobi": "KE",
        "Africa/Accra": "GH",
        "Asia/Dubai": "AE OM",
        "Asia/Riyadh": "SA QA KW BH",
        "Asia/Karachi": "PK UZ",
        "Asia/Kolkata": "IN LK",
        "Asia/Dhaka": "BD",
        "Asia/Kathmandu": "NP",
        "Asia/Bangkok": "TH VN KH",
        "Asia/Singapore": "SG MY PH TW HK CN MO",
        "Asia/Tokyo": "JP KR",
        "Pacific/Auckland": "NZ",
        "America/Bogota": "CO PE EC PA JM",
        "America/Caracas": "VE BO",
        "America/Santiago": "CL",
        "America/Argentina/Buenos_Aires": "AR UY",
        "America/Costa_Rica": "CR GT SV HN NI",
        "America/Santo_Domingo": "DO PR TT",
        "Asia/Tbilisi": "GE AM AZ",
    }.items()
    for code in codes.split()
}
_CITIES = {
    ("BR", "são paulo"): "America/Sao_Paulo",
    ("MX", "mexico city"): "America/Mexico_City",
    ("MX", "guadalajara"): "America/Mexico_City",
    ("MX", "monterrey"): "America/Mexico_City",
    ("MX", "tijuana"): "America/Tijuana",
    ("ID", "jakarta"): "Asia/Jakarta",
    ("RU", "moscow"): "Europe/Moscow",
    ("KZ", "almaty"): "Asia/Almaty",
}
_SAID = re.compile(
    r"\b(?:(?P<name>[Pp]acific|[Mm]ountain|[Cc]entral [Ee]uropean|[Cc]entral|[Ee]astern|[Ii]ndian?|[Bb]ritish)"
    r"(?: [Ss]tandard| [Dd]aylight)? [Tt]ime(?:zone)?|(?:UTC|GMT) ?(?P<sign>[+\u2212-]) ?(?P<hours>[0-9]{1,2})|"
    r"(?P<code>PST|PDT|PT|MST|MDT|CST|CDT|EST|EDT|ET|CET|CEST|BST|GMT|UTC|IST|JST|AEST))\b"
)
_NAMED = {
    name: zone
    for zone, names in {
        "America/Los_Angeles": "pacific PST PDT PT",
        "America/Denver": "mountain MST MDT",
        "America/Chicago": "central CST CDT",
        "America/New_York": "eastern EST EDT ET",
        "Europe/Berlin": "central_european CET CEST",
        "Europe/London": "british BST",
        "Etc/UTC": "GMT UTC",
        "Asia/Kolkata": "india indian IST",
        "Asia/Tokyo": "JST",
        "Australia/Sydney": "AEST",
    }.items()
    for name in names.split()
}


def zone_of(spot: Spot) -> str | None:
    """The time zone of a place, where there can be only one."""
    country = (spot.country or "").upper()
    region = _REGIONS.get((country, (spot.region or "").upper()))
    return region or _COUNTRIES.get(country) or _CITIES.get((country, (spot.city or "").lower()))


def zones_said(text: str, low: str) -> Iterator[tuple[str, Place]]:
    """The time zones that a description asks for: "overlap with Eastern Time", "core hours 9-5 PT". `low` is
    the text folded.
    """
    for cue in _CUES:
        at, seen = low.find(cue), 0
        while at >= 0 and seen < _MAX_CUES:
            left, right = max(0, at - _AROUND), at + len(cue) + _AROUND
            for match in _SAID.finditer(text, left, right):
                yield _zone(match), Place(match[0], *match.span())
            at, seen = low.find(cue, at + 1), seen + 1


def _zone(match: re.Match[str]) -> str:
    if match["hours"]:
        # The names of these zones count the other way round.
        return f"Etc/GMT{'-' if match['sign'] == '+' else '+'}{min(int(match['hours']), 12)}"
    return _NAMED[match["name"].lower().replace(" ", "_") if match["name"] else match["code"]]


@lru_cache(maxsize=4_096)
def hours_between(one: str, other: str, day: date) -> float:
    """The difference of two clocks at noon of a day, between 0 and 12 hours: tomorrow's morning is near to
    tonight.
    """
    noon = datetime.combine(day, time(12))
    there, here = (noon.replace(tzinfo=ZoneInfo(zone)).utcoffset() or timedelta() for zone in (one, other))
    apart = abs(there - here) / HOUR
    return min(apart, 24 - apart)
