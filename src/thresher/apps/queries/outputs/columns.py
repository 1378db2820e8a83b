"""The table of companies: its twelve columns, whose each of them is, and the words that people may write.

Eight columns are the machine's and three are people's. Neither ever writes into the other's.
"""

import re
import unicodedata
from collections.abc import Mapping
from enum import StrEnum

from thresher.apps.queries.signals.rules import RESOLUTIONS, Resolutions

Cell = str | int | float | bool

COMPANY_ID = "company_id"
RESOLUTION, FEEDBACK, NOTES = "resolution", "model_feedback", "model_notes"
COMPANY_NAME = "company_name"

# In the order of a new sheet.
COLUMNS = (
    COMPANY_ID,
    COMPANY_NAME,
    RESOLUTION,
    "max_score",
    "strong_offers",
    "unique_offers",
    "posting_activity",
    "top_offer_url",
    "top_category",
    "last_strong_at",
    FEEDBACK,
    NOTES,
)
HUMAN = (RESOLUTION, FEEDBACK, NOTES)
MACHINE = tuple(column for column in COLUMNS if column not in (COMPANY_ID, *HUMAN))

MAX_TEXT = 5_000  # characters of a cell that is read or written; a cell of Google's takes 50,000


class Feedback(StrEnum):
    """What people say about a score: right, too high (false positive), or too low (false negative)."""

    OK = "OK"
    FP = "FP"
    FN = "FN"


# Other names of a column, as `header_word` writes them: Spanish ones, and what people shorten them to.
SYNONYMS: Mapping[str, tuple[str, ...]] = {
    COMPANY_ID: ("id empresa", "empresa id", "id de empresa"),
    COMPANY_NAME: ("empresa", "nombre empresa", "nombre de empresa", "company"),
    RESOLUTION: ("resolucion", "estado"),
    "max_score": ("puntuacion maxima", "puntuacion max", "score maximo", "score max"),
    "strong_offers": ("ofertas fuertes",),
    "unique_offers": ("ofertas unicas",),
    "posting_activity": ("actividad", "actividad de publicacion", "actividad publicaciones"),
    "top_offer_url": ("url oferta principal", "url mejor oferta", "mejor oferta", "oferta principal"),
    "top_category": ("categoria principal",),
    "last_strong_at": ("ultima senal fuerte", "ultima oferta fuerte", "ultimo strong"),
    FEEDBACK: ("feedback modelo", "feedback del modelo", "feedback"),
    NOTES: ("notas modelo", "notas del modelo", "notas", "notes"),
}


def header_word(text: object) -> str:
    """A header as headers are compared: without case, accents, punctuation and superfluous spaces."""
    plain = unicodedata.normalize("NFKD", str(text)[:200]).casefold()
    letters = "".join(char for char in plain if not unicodedata.combining(char))
    return " ".join(re.sub(r"[\W_]+", " ", letters).split())


def known_headers(given: Mapping[str, str]) -> dict[str, str]:
    """The column of each header word. What a project writes for a column comes before every synonym."""
    found: dict[str, str] = {}
    for column in COLUMNS:
        for word in (column, *SYNONYMS[column]):
            found.setdefault(header_word(word), column)
    for column, header in given.items():
        found[header_word(header)] = column
    return found


def plain_text(cell: object) -> str:
    """What stands in a cell, as text: whole numbers without a decimal point, no surrounding space."""
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return str(cell).upper()
    if isinstance(cell, float) and cell.is_integer():
        cell = int(cell)
    text = unicodedata.normalize("NFC", str(cell)).replace("\r\n", "\n").replace("\r", "\n")
    return text[:MAX_TEXT].strip()


def checked_value(column: str, text: str, resolutions: Resolutions = RESOLUTIONS) -> str:
    """What a person wrote into a human column, as it is stored. Raises `ValueError` with the reason why it
    cannot be taken.
    """
    if column == NOTES:
        return text
    word = "_".join(text.upper().split())
    words = (*resolutions.active, *resolutions.resolved) if column == RESOLUTION else tuple(Feedback)
    if word in words or (column == FEEDBACK and not word):
        return word
    said = "an empty cell" if not word else repr(text[:60])
    raise ValueError(f"{column} must be one of {', '.join(words)}, got {said}")
