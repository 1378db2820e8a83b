"""Slugs: the few tokens under which a company may keep its board, made of its host and its name. A guess,
never a proof.

Guessed tokens once gave companies boards of strangers: by two letters, by a word such as "national", by the
first word of a long name. So a slug is the whole name or the whole label of the host, has three letters at
least, and is no common word.
"""

import re
import unicodedata

from thresher.core.errors import InvalidUrl
from thresher.hiring.names import COMMON, MAX_LENGTH, MIN_LENGTH, label_of, name_words, sets_apart
from thresher.reading.platforms.boards import recognise
from thresher.reading.values.addresses import read_address

MAX_SLUGS = 4
MAX_SLUG = 60
_SLUG = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
# In German names a second spelling is as usual as the first.
_SPELT_OUT = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue"})


def slugs(name: str | None, website: str | None = None, most: int = MAX_SLUGS) -> tuple[str, ...]:
    """Tokens worth a try, the likeliest first, `most` at most."""
    said = unicodedata.normalize("NFC", (name or "")[:MAX_LENGTH])
    spellings = (said, said.lower().translate(_SPELT_OUT))
    guesses = [_label(website), *(guess for each in spellings for guess in _of(name_words(each)))]
    return tuple(dict.fromkeys(guess for guess in guesses if guess and _is_slug(guess)))[:most]


def _of(words: tuple[str, ...]) -> tuple[str, ...]:
    """A name written together and with hyphens; nothing where its words name nobody in particular."""
    return ("".join(words), "-".join(words)) if sets_apart(words) else ()


def _label(website: str | None) -> str | None:
    """What a company calls its domain. A board's own host is nobody's site."""
    if not website or recognise(website):
        return None
    try:
        address = read_address(website if "//" in website[:10] else f"https://{website}")
    except InvalidUrl:
        return None
    return label_of(address.hostname) if address.protocol in ("http:", "https:") else None


def _is_slug(text: str) -> bool:
    letters = text.replace("-", "")
    fits = len(letters) >= MIN_LENGTH and len(text) <= MAX_SLUG and _SLUG.fullmatch(text) is not None
    return fits and text not in COMMON and not letters.isdecimal()
