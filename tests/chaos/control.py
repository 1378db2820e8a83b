"""A page of memory that the supervisor and its workers share: how far the clock is off, and whether the disk
is full."""

import mmap
import struct
from pathlib import Path

from thresher.core.clock import SystemClock

SIZE = 16


class Control:
    """Two numbers. Written by the supervisor, read by everybody, at once."""

    def __init__(self, path: Path) -> None:
        if not path.exists():
            path.write_bytes(bytes(SIZE))
        with path.open("r+b") as file:
            self._page = mmap.mmap(file.fileno(), SIZE)

    @property
    def offset_us(self) -> int:
        return int(struct.unpack_from("q", self._page, 0)[0])

    @offset_us.setter
    def offset_us(self, value: int) -> None:
        struct.pack_into("q", self._page, 0, value)

    @property
    def disk_full(self) -> bool:
        return bool(struct.unpack_from("q", self._page, 8)[0])

    @disk_full.setter
    def disk_full(self, value: bool) -> None:
        struct.pack_into("q", self._page, 8, int(value))


class JumpingClock:
    """The clock of a machine that somebody keeps setting."""

    def __init__(self, control: Control) -> None:
        self._control = control
        self._true = SystemClock()

    def now(self) -> int:
        return self._true.now() + self._control.offset_us
