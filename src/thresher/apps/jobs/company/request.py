"""Which company a task is about: from its payload, its address, and what is known of the company already."""

from dataclasses import dataclass
from typing import Any

from thresher.core.context import Context
from thresher.core.errors import InvalidPayload, InvalidUrl
from thresher.core.keys import canonical_url
from thresher.core.record import Found, Is
from thresher.hiring.kinds import COMPANY
from thresher.hiring.records import company_key, company_name_key
from thresher.reading.platforms.boards import Board, recognise

MAX_NAME = 200


@dataclass(frozen=True, slots=True)
class Request:
    """`website` is the home page; `board` what was given in its place, where that is no site but a board.
    `known` is its record.
    """

    key: str
    name: str | None = None
    website: str | None = None
    board: Board | None = None
    via: str = "user"
    force: bool = False
    known: Found | None = None


async def request_of(ctx: Context) -> Request:
    """The request of a task. Raises `InvalidPayload` for one that names no company."""
    said = ctx.task.payload
    name, given = _text(said.get("name")), _address(_text(said.get("website")) or ctx.task.url)
    board = recognise(given) if given else None
    website = None if board else given
    if not name and not website and not board:
        raise InvalidPayload("a company needs a name or a website; give one of them in the payload")
    known = await _known(ctx, name, website, board)
    website = website or (_address(_text(known.data.get("website"))) if known else None)
    key = known.key if known else company_key(name or (board.token if board else None), website)
    return Request(
        key=key,
        name=name or (_text(known.data.get("name")) if known else None),
        website=website,
        board=board,
        via=_text(said.get("via")) or "user",
        force=bool(said.get("force", False)),
        known=known,
    )


async def _known(ctx: Context, name: str | None, website: str | None, board: Board | None) -> Found | None:
    """The company's record: by its key, else the only one of that name that has a site."""
    found = await ctx.record(COMPANY, company_key(name or (board.token if board else None), website))
    if website or not name or (found and found.data.get("website")):
        return found
    named = await ctx.records(COMPANY, where=(Is("name_key", company_name_key(name)),), limit=3)
    alike = [each for each in named if each.data.get("website")]
    return alike[0] if len(alike) == 1 else found


def _text(value: Any) -> str | None:
    return " ".join(value.split())[:MAX_NAME] or None if isinstance(value, str) else None


def _address(text: str | None) -> str | None:
    if text is None:
        return None
    try:
        return canonical_url(text if "//" in text[:10] else f"https://{text}")
    except InvalidUrl as problem:
        raise InvalidPayload(f"website: {problem}") from None
