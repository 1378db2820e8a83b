"""The day a posting was posted, where its source names one. "30+ days ago" and "May 2024" name none."""

from datetime import date

from thresher.reading.dates import read_date


def posted_on(text: str | None, today: date, *, day_first: bool | None = None) -> date | None:
    """The day for certain, or None: a bound and a month are no day. `day_first` is for sources known to write
    3/4 one way.
    """
    found = read_date(text, today=today, day_first=day_first) if text else None
    return found.day if found and found.precision == "day" and not found.or_earlier else None
