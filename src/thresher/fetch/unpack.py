"""Unpacking what came over the wire, never further than the bounds allow.

A few kilobytes can stand for gigabytes. So every step says how much it may put out, and the first byte too
many ends it. Pure: bytes in, bytes out, so that hostile ones can be tried without a server.
"""

import importlib
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Protocol

import zstandard

from thresher.core.errors import ConnectionFailed, Malformed, TooLarge
from thresher.fetch.request import Bounds

MAX_LAYERS = 2  # one to pack a file, one to send it; more is nobody's mistake
MAX_PARTS = 1_000  # gzip and zstd may be made of parts; block-wise gzip has one per 64 KB
HARMLESS = 1024 * 1024  # up to here no ratio is called a bomb
ZSTD_WINDOW = 8 * 1024 * 1024  # what RFC 9659 asks of senders


class _Stream(Protocol):
    """One part being unpacked. `feed` puts out at most a little more than `room`."""

    def feed(self, packed: memoryview, room: int) -> bytes: ...

    @property
    def finished(self) -> bool: ...

    @property
    def rest(self) -> int: ...


class _Zlib:
    def __init__(self, wbits: int) -> None:
        self._inner = zlib.decompressobj(wbits)

    def feed(self, packed: memoryview, room: int) -> bytes:
        return self._inner.decompress(packed, room)

    @property
    def finished(self) -> bool:
        return self._inner.eof

    @property
    def rest(self) -> int:
        return len(self._inner.unused_data)


class _Zstd:
    def __init__(self) -> None:
        self._inner = zstandard.ZstdDecompressor(max_window_size=ZSTD_WINDOW).decompressobj()

    def feed(self, packed: memoryview, room: int) -> bytes:  # noqa: ARG002 - its steps are small enough instead
        return self._inner.decompress(packed)

    @property
    def finished(self) -> bool:
        return self._inner.eof

    @property
    def rest(self) -> int:
        return len(self._inner.unused_data)


class _Brotli:
    rest = 0

    def __init__(self, module: ModuleType) -> None:
        self._inner: Any = module.Decompressor()

    def feed(self, packed: memoryview, room: int) -> bytes:
        out: bytes = self._inner.process(bytes(packed), output_buffer_limit=room)
        while len(out) < room and not self._inner.can_accept_more_data():
            out += self._inner.process(b"", output_buffer_limit=room - len(out))
        return out

    @property
    def finished(self) -> bool:
        return bool(self._inner.is_finished())


@dataclass(frozen=True, slots=True)
class _Packing:
    """`step`: how many packed bytes go in at once. Four bytes of zstd may become 128 KB, so 256 become 8 MB
    at most.
    """

    name: str
    open: Callable[[bytes], _Stream]
    magic: bytes = b""  # how a further part begins
    step: int = 64 * 1024


def _deflate(body: bytes) -> _Stream:
    """The standard says zlib; some servers send the naked stream. The two-byte header tells them apart."""
    zlib_header = len(body) > 1 and body[0] & 0x0F == 8 and int.from_bytes(body[:2], "big") % 31 == 0
    return _Zlib(zlib.MAX_WBITS if zlib_header else -zlib.MAX_WBITS)


def _brotli() -> ModuleType | None:
    """Only a release that can limit its output will do."""
    try:
        module = importlib.import_module("brotli")
    except ImportError:
        return None
    return module if hasattr(module.Decompressor, "can_accept_more_data") else None


GZIP = _Packing("gzip", lambda _: _Zlib(zlib.MAX_WBITS | 16), magic=b"\x1f\x8b")
PACKINGS = {
    "gzip": GZIP,
    "x-gzip": GZIP,
    "deflate": _Packing("deflate", _deflate),
    "zstd": _Packing("zstd", lambda _: _Zstd(), magic=b"\x28\xb5\x2f\xfd", step=256),
}
if (_module := _brotli()) is not None:
    PACKINGS["br"] = _Packing("br", lambda _, module=_module: _Brotli(module))  # type: ignore[misc]
BROKEN: tuple[type[Exception], ...] = (
    zlib.error,
    zstandard.ZstdError,
    *((_module.error,) if _module else ()),
)

ACCEPTED = ", ".join(name for name in PACKINGS if name != "x-gzip")


def unpack(body: bytes, encoding: str, bounds: Bounds) -> bytes:
    """The body as it was before it was packed. `encoding` is the Content-Encoding header, the first packing
    first.
    """
    layers = [name for part in encoding.lower().split(",") if (name := part.strip()) not in ("", "identity")]
    if len(layers) > MAX_LAYERS:
        raise Malformed(
            f"the answer is packed {len(layers)} times ({encoding[:80]}); at most {MAX_LAYERS} are undone"
        )
    wire = len(body)
    for name in reversed(layers):
        packing = PACKINGS.get(name)
        if packing is None:
            raise Malformed(f"the answer is packed as {name[:40]!r}; known are {ACCEPTED}")
        body = _layer(body, packing, wire, bounds) if body else body
    return body


def _layer(body: bytes, packing: _Packing, wire: int, bounds: Bounds) -> bytes:
    limit = int(min(bounds.size, max(HARMLESS, bounds.ratio * wire)))
    try:
        return _parts(body, packing, limit)
    except _Over:
        if limit < bounds.size:
            raise TooLarge(
                f"{wire:,} bytes unpack to more than {bounds.ratio:g} times as many: a bomb, not a page"
            ) from None
        raise TooLarge(
            f"the answer unpacks to more than {bounds.size:,} bytes, the limit of fetch.size_limit"
        ) from None
    except BROKEN as problem:
        raise Malformed(f"the answer is not the {packing.name} it says it is: {problem}") from problem


class _Over(Exception):
    """More came out than may."""


def _parts(body: bytes, packing: _Packing, limit: int) -> bytes:
    view, position, total = memoryview(body), 0, 0
    out: list[bytes] = []
    for _ in range(MAX_PARTS):
        stream = packing.open(body)
        while position < len(body) and not stream.finished:
            piece = view[position : position + packing.step]
            out.append(stream.feed(piece, limit - total + 1))
            total += len(out[-1])
            position += len(piece) - stream.rest
            if total > limit:
                raise _Over
        if not stream.finished:
            raise ConnectionFailed(
                f"the answer was cut off: its {packing.name} data ends early, after {len(body):,} bytes"
            )
        if not packing.magic or body[position : position + len(packing.magic)] != packing.magic:
            return out[0] if len(out) == 1 else b"".join(out)  # what follows the last part is padding
    raise Malformed(f"the answer's {packing.name} data has more than {MAX_PARTS:,} parts")
