"""The body of an answer, gathered piece by piece under a limit, and the headers of both ways as plain text.

The limit is looked at before a piece is kept, so a server that never stops costs one piece more than is
allowed.
"""

from collections.abc import Iterable, Mapping

from thresher.core.errors import TaskError, TooLarge
from thresher.core.threads import in_thread
from thresher.fetch.guard import Target
from thresher.fetch.request import Bounds, Request
from thresher.fetch.unpack import ACCEPTED, unpack

OFF_THE_LOOP = 256 * 1024  # unpacking more than this would keep other requests waiting


class Body:
    """`wire` counts what came, still packed. Raises `TooLarge` as soon as it is known."""

    __slots__ = ("_bounds", "_declared", "_encoding", "_gate", "_pieces", "wire")

    def __init__(self, headers: Mapping[str, str], bounds: Bounds, gate: str) -> None:
        length = headers.get("content-length", "")
        self._declared = int(length) if length.isascii() and length.isdigit() and len(length) < 20 else None
        self._encoding = _layers(headers)
        self._bounds = bounds
        self._gate = gate
        self._pieces: list[bytes] = []
        self.wire = 0

    def announced(self) -> None:
        """Not asked of an answer without a body, such as one to HEAD, which may well announce one."""
        if self._declared is not None and self._declared > self._bounds.size:
            raise TooLarge(
                f"the answer is to have {self._declared:,} bytes; fetch.size_limit is {self._bounds.size:,}",
                gate=self._gate,
            )

    def add(self, piece: bytes) -> None:
        if not self.wire:
            self.announced()
        self.wire += len(piece)
        if self.wire > self._bounds.size:
            raise TooLarge(
                f"the answer has more than {self._bounds.size:,} bytes, the limit of fetch.size_limit",
                gate=self._gate,
            )
        self._pieces.append(piece)

    def cut_off(self) -> str:
        whole = f"{self._declared:,}" if self._declared is not None else "an unknown number of"
        return f"the answer was cut off after {self.wire:,} of {whole} bytes"

    async def unpacked(self) -> bytes:
        packed = self._pieces[0] if len(self._pieces) == 1 else b"".join(self._pieces)
        self._pieces.clear()
        if not self._encoding:
            return packed
        try:
            if len(packed) > OFF_THE_LOOP:
                return await in_thread(unpack, packed, self._encoding, self._bounds)
            return unpack(packed, self._encoding, self._bounds)
        except TaskError as problem:
            problem.gate = self._gate
            raise


def _layers(headers: Mapping[str, str]) -> str:
    """All that was done to the body. Some pack it for the way only; the chunks alone were undone by the
    parser.
    """
    carried = headers.get("transfer-encoding", "chunked")
    if carried == "chunked":
        return headers.get("content-encoding", "")
    ways = [way for part in carried.lower().split(",") if (way := part.strip()) != "chunked"]
    return ",".join((headers.get("content-encoding", ""), *ways))


def outgoing(request: Request, target: Target) -> dict[str, str]:
    """What is sent: no second Host under another spelling, and no packing that we could not undo."""
    headers = {"accept-encoding": ACCEPTED}
    headers.update((name.lower(), value) for name, value in request.headers.items())
    headers["host"] = target.authority
    return headers


def plain(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Names in lower case, repeated ones joined, cookies dropped: they do not join, and nobody keeps them."""
    found: dict[str, str] = {}
    for name, value in pairs:
        key = name.lower()
        if key == "set-cookie":
            continue
        text = value if value.isascii() else _readable(value)
        found[key] = f"{found[key]}, {text}" if key in found else text
    return found


def _readable(value: str) -> str:
    """Headers are bytes. Most that are not ASCII are UTF-8; the rest was once declared to be Latin-1."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return value.encode("utf-8", "surrogateescape").decode("latin-1")
    return value
