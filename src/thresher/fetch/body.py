"""The body of a response: gathered under a size limit, decompressed within bounds; and headers as text.

The limit is checked before a chunk is kept, so an endless response costs one chunk more than is allowed.
"""

import importlib
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Protocol

from thresher.core.compute import in_thread
from thresher.core.errors import ConnectionFailed, Malformed, TaskError, TooLarge
from thresher.core.zstd import zstd
from thresher.fetch.guard import Target
from thresher.fetch.request import Bounds, Request

# Decompression, bounded in layers and size.
#
# A few kilobytes can stand for gigabytes. So every step says how much it may put out, and the first byte
# too many ends it. Pure: bytes in, bytes out, so that hostile ones can be tried without a server.

MAX_LAYERS = 2  # one to pack a file, one to send it; more is nobody's mistake
MAX_PARTS = 1_000  # gzip and zstd may be made of parts; block-wise gzip has one per 64 KB
HARMLESS = 1024 * 1024  # up to here no ratio is called a bomb
STEP = 64 * 1024  # how many packed bytes go in at once
# 8 MB of window: what RFC 9659 asks of senders.
ZSTD_OPTIONS: dict[int, int] = {zstd.DecompressionParameter.window_log_max: 23}


class _Stream(Protocol):
    """One part being unpacked. `feed` puts out at most `room` bytes."""

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
        self._inner = zstd.ZstdDecompressor(options=ZSTD_OPTIONS)

    def feed(self, packed: memoryview, room: int) -> bytes:
        return self._inner.decompress(packed, room)

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
    name: str
    open: Callable[[bytes], _Stream]
    magic: bytes = b""  # how a further part begins


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
    "zstd": _Packing("zstd", lambda _: _Zstd(), magic=b"\x28\xb5\x2f\xfd"),
}
if (_module := _brotli()) is not None:
    PACKINGS["br"] = _Packing("br", lambda _, module=_module: _Brotli(module))  # type: ignore[misc]
BROKEN: tuple[type[Exception], ...] = (
    zlib.error,
    zstd.ZstdError,
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
            f"the response is compressed {len(layers)} times ({encoding[:80]}); the limit is {MAX_LAYERS}"
        )
    wire = len(body)
    for name in reversed(layers):
        packing = PACKINGS.get(name)
        if packing is None:
            raise Malformed(f"the response is compressed as {name[:40]!r}; supported are {ACCEPTED}")
        body = _layer(body, packing, wire, bounds) if body else body
    return body


def _layer(body: bytes, packing: _Packing, wire: int, bounds: Bounds) -> bytes:
    limit = int(min(bounds.size, max(HARMLESS, bounds.ratio * wire)))
    try:
        return _parts(body, packing, limit)
    except _Over:
        if limit < bounds.size:
            raise TooLarge(
                f"{wire:,} bytes decompress to more than {bounds.ratio:g} times as many: a decompression bomb"
            ) from None
        raise TooLarge(
            f"the response decompresses to more than {bounds.size:,} bytes, the limit of fetch.size_limit"
        ) from None
    except BROKEN as problem:
        raise Malformed(f"the response is not valid {packing.name}: {problem}") from problem


class _Over(Exception):
    """More came out than may."""


def _parts(body: bytes, packing: _Packing, limit: int) -> bytes:
    view, position, total = memoryview(body), 0, 0
    out: list[bytes] = []
    for _ in range(MAX_PARTS):
        stream = packing.open(body)
        while position < len(body) and not stream.finished:
            piece = view[position : position + STEP]
            out.append(stream.feed(piece, limit - total + 1))
            total += len(out[-1])
            position += len(piece) - stream.rest
            if total > limit:
                raise _Over
        if not stream.finished:
            raise ConnectionFailed(
                f"the response was cut off: its {packing.name} data ends early, after {len(body):,} bytes"
            )
        if not packing.magic or body[position : position + len(packing.magic)] != packing.magic:
            return out[0] if len(out) == 1 else b"".join(out)  # what follows the last part is padding
    raise Malformed(f"the response's {packing.name} data has more than {MAX_PARTS:,} parts")


@contextmanager
def once_answered(status: int) -> Iterator[None]:
    """Name the status in whatever goes wrong with the body: to some who ask it says all they need."""
    try:
        yield
    except TaskError as problem:
        problem.status = status
        raise


OFF_THE_LOOP = 256 * 1024  # unpacking more than this would keep other requests waiting


class ResponseBody:
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
                f"the response declares {self._declared:,} bytes; fetch.size_limit is {self._bounds.size:,}",
                gate=self._gate,
            )

    def add(self, piece: bytes) -> None:
        if not self.wire:
            self.announced()
        self.wire += len(piece)
        if self.wire > self._bounds.size:
            raise TooLarge(
                f"the response has more than {self._bounds.size:,} bytes, the limit of fetch.size_limit",
                gate=self._gate,
            )
        self._pieces.append(piece)

    def cut_off(self) -> str:
        whole = f"{self._declared:,}" if self._declared is not None else "an unknown number of"
        return f"the response was cut off after {self.wire:,} of {whole} bytes"

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
    """Return headers with lower-case names, repeated ones joined, cookies dropped: they cannot be joined, and
    are never kept.
    """
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
