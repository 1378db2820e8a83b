"""A large body on its way to a file: whole, with its digest, and never more of it than is allowed."""

import asyncio
import hashlib
from collections.abc import Iterable
from typing import Any, Self

import pytest
from fastapi import HTTPException
from starlette.requests import Request

from tests.web.conftest import ALL_ROUTES
from thresher.core.errors import DatabaseProblem
from thresher.core.spooled import Spooled
from thresher.web import body as body_limit
from thresher.web.body import BodyLimit, Shares, spooled
from thresher.web.route import body_limits


def read(
    pieces: Iterable[bytes], limit: int = 10_000_000, length: int | None = None
) -> tuple[bytes, Spooled, int]:
    """What arrives of these pieces, and how many of them were asked for."""
    asked, coming = 0, iter(pieces)

    async def receive() -> dict[str, Any]:
        nonlocal asked
        asked += 1
        piece = next(coming, None)
        return (
            {"type": "http.disconnect"}
            if piece is None
            else {"type": "http.request", "body": piece, "more_body": piece != b""}
        )

    async def whole() -> tuple[bytes, Spooled, int]:
        headers = [] if length is None else [(b"content-length", str(length).encode())]
        request = Request({"type": "http", "method": "POST", "path": "/", "headers": headers}, receive)
        with Shares().share(1, limit, "shares") as share:
            async with spooled(request, limit, "in all", share) as body:
                return b"".join(body.pieces()), body, asked

    return asyncio.run(whole())


@pytest.mark.parametrize("number", [0, 1, 50])
def test_a_body_arrives_whole_with_its_digest(number: int) -> None:
    pieces = [bytes([at]) * 65_536 for at in range(number)]
    found, body, _ = read([*pieces, b""])
    assert found == b"".join(pieces)
    assert (body.size, body.digest) == (len(found), hashlib.sha256(found).hexdigest())
    assert body.file.closed


@pytest.mark.promise(18)
def test_reading_stops_at_the_limit() -> None:
    endless = iter(lambda: b"x" * 1_000, None)
    with pytest.raises(HTTPException) as told:
        read(endless, limit=10_000)
    assert told.value.status_code == 413
    assert "10,000" in told.value.detail
    assert next(endless)  # there was more


def test_a_body_that_says_that_it_is_too_large_is_not_read_at_all() -> None:
    with pytest.raises(HTTPException) as told:
        read([], limit=10_000, length=10_001)
    assert told.value.status_code == 413


@pytest.mark.promise(1)
def test_a_client_that_hangs_up_in_the_middle_has_sent_nothing() -> None:
    with pytest.raises(HTTPException) as told:
        read([b"half"])
    assert told.value.status_code == 400


def test_a_full_disk_is_told_as_such(monkeypatch: pytest.MonkeyPatch) -> None:
    class Full:
        def __init__(self, **_: Any) -> None: ...
        def __enter__(self) -> Self:
            return self

        def __exit__(self, *_: object) -> None: ...
        def write(self, _: bytes) -> None:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(body_limit, "SpooledTemporaryFile", Full)
    with pytest.raises(DatabaseProblem, match="No space left"):
        read([b"x", b""])


def test_what_may_be_larger_is_a_route_that_reads_piece_by_piece() -> None:
    limits = body_limits(route for _, route in ALL_ROUTES)
    files = ("/api/prices/import", "/api/prices/items/7/points/import", "/api/prices/rates")
    assert [each[0] for each in limits] == ["POST"] * (1 + len(files))
    assert all(any(each[1].fullmatch(path) for each in limits) for path in files)
    (limit,) = (each for each in limits if each[1].fullmatch("/api/scraper/queue/jobs"))
    assert limit[2] == BodyLimit("roles.body_limit", "roles.body_patience")
