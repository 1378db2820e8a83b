"""A candidate: a board that may be a company's, how it was found, and the result of trying it."""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from thresher.core.errors import InvalidUrl
from thresher.hiring.confidence import Method
from thresher.hiring.names import COMMON, MAX_LENGTH, MIN_LENGTH, label_of, name_words, sets_apart
from thresher.reading.platforms.boards import Board, board_named, recognise
from thresher.reading.platforms.platform import guessable
from thresher.reading.values.addresses import read_address

# Slugs: tokens under which a company may keep its board, derived from its host and its name. A guess, never a
# proof.

MAX_SLUGS = 4
MAX_SLUG = 60
_SLUG = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
# German names are often written with the umlaut spelled out.
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


LOOK = "look"  # the method of a page that was only looked at
GONE, UNREACHED = (
    "gone",
    "unreached",
)  # besides the ends of a look: there is no such thing, and nobody answered


@dataclass(frozen=True, slots=True)
class Candidate:
    """`page` is the page that named it, where one did."""

    method: Method
    board: Board
    page: str | None = None

    def as_json(self) -> dict[str, Any]:
        board = self.board
        said = {
            "platform": board.platform,
            "token": board.token,
            "url": board.url,
            "parts": dict(board.parts),
        }
        return {"method": self.method.value, "page": self.page, **said}


def candidate_of(data: Mapping[str, Any]) -> Candidate:
    """The way back from JSON."""
    board = Board(data["platform"], data["token"], data["url"], data["parts"])
    return Candidate(Method(data["method"]), board, data["page"])


def guesses(name: str | None, website: str | None, most: int) -> tuple[Candidate, ...]:
    """Boards under names that a company might have chosen: its likeliest name on every platform, then the
    next.

    Only on platforms whose tokens are names at all. A token that cannot be on a platform is not tried there.
    """
    tokens = slugs(name, website) if name else ()
    boards = (board_named(platform.name, token) for token in tokens for platform in guessable())
    return tuple(Candidate(Method.GUESS, board) for board in boards if board)[:most]
