"""The knobs that are turned, and how often each may still act."""

from dataclasses import dataclass

from thresher.practice.web.knob import DELIVERIES, TWISTS, Knob, Trouble


class Panel:
    """Knows which knobs act on a request. Not thread-safe: its owner holds the lock."""

    def __init__(self) -> None:
        self._turned: list[_Turned] = []

    def turn(self, *knobs: Knob) -> None:
        self._turned.extend(_Turned(each, each.after, each.times) for each in knobs)

    def clear(self) -> None:
        self._turned.clear()

    @property
    def knobs(self) -> tuple[Knob, ...]:
        return tuple(each.knob for each in self._turned if each.left != 0)

    def take(self, host: str, path: str) -> tuple[Knob, ...]:
        """The knobs that act on this request; their counts are spent by it."""
        if not self._turned:
            return ()
        taken: list[Knob] = []
        sorts: set[str] = set()
        for each in self._turned:
            sort = _sort(each.knob.trouble)
            if each.left != 0 and sort not in sorts and each.knob.matches(host, path) and each.spend():
                taken.append(each.knob)
                sorts.add(sort)
        self._turned = [each for each in self._turned if each.left != 0]
        return tuple(taken)


@dataclass(slots=True)
class _Turned:
    knob: Knob
    waiting: int
    left: int | None

    def spend(self) -> bool:
        if self.waiting:
            self.waiting -= 1
            return False
        if self.left is not None:
            self.left -= 1
        return True


def _sort(trouble: Trouble) -> str:
    if trouble in TWISTS:
        return trouble
    return "delivery" if trouble in DELIVERIES else "answer"
