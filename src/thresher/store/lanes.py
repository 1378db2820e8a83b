"""From a kind, a stage and the names of gates to a lane: found, or made the first time.

Tasks without gates are dealt out over a few lanes, so that several claimers do not queue up at one row.
"""

from collections.abc import Iterable, Mapping
from itertools import count

from thresher.config.settings import Settings
from thresher.core.errors import UnknownName, UsageError
from thresher.core.limits import MAX_GATE_BYTES, check_text
from thresher.governance.gate import Limits
from thresher.store.backend import Backend
from thresher.store.lane import OPEN, Place
from thresher.store.scopes import scope_ids
from thresher.store.session import Session

OPEN_LANES = 8
REMEMBERED = 100_000
AT_ONCE = 500
_OPEN_NAMES = tuple((f"{OPEN}{number}",) for number in range(OPEN_LANES))

_ADD_GATE = """insert into gates (name, max_in_flight, interval_us, burst, trip_after, cooldown_us)
    values (:name, :max_in_flight, :interval_us, :burst, :trip_after, :cooldown_us) on conflict (name) do nothing"""
_GATES = "select name, id from gates where name in (:names*)"


class Lanes:
    """The lanes already met, and a fair hand for tasks without gates."""

    def __init__(self, met: Mapping[Place, int] = {}) -> None:
        self._met = dict(met)
        self._deal = count()

    def __getitem__(self, place: Place) -> int:
        kind, stage, gates = place
        return self._met[place if gates else (kind, stage, _OPEN_NAMES[next(self._deal) % OPEN_LANES])]

    def missing(self, wanted: Iterable[Place]) -> set[Place]:
        """Those that have to be resolved first."""
        return {
            (kind, stage, names)
            for kind, stage, gates in wanted
            for names in ((gates,) if gates else _OPEN_NAMES)
            if (kind, stage, names) not in self._met
        }

    @property
    def full(self) -> bool:
        """Whether it is time to start over with an empty memory."""
        return len(self._met) > REMEMBERED

    def meet(self, found: Mapping[Place, int]) -> None:
        self._met |= found

    def with_(self, found: Mapping[Place, int]) -> "Lanes":
        """These and a few more, for one transaction that may yet be rolled back."""
        return Lanes(self._met | dict(found))


def resolve(backend: Backend, session: Session, wanted: Iterable[Place], settings: Settings) -> dict[Place, int]:
    """The lane of each kind, stage and set of gates."""
    ordered = sorted(set(wanted))
    scopes = scope_ids(session, {(kind, stage) for kind, stage, _ in ordered})
    ids = _gate_ids(session, [names for _, _, names in ordered if names not in _OPEN_NAMES], settings)
    return {
        (kind, stage, names): backend.add_lane(
            session, "\n".join(names), [] if names in _OPEN_NAMES else [ids[name] for name in names], scopes[kind, stage]
        )
        for kind, stage, names in ordered
    }


def _gate_ids(session: Session, lanes: Iterable[tuple[str, ...]], settings: Settings) -> Mapping[str, int]:
    """The gates of all these lanes. New ones are made in the order of their names: two machines never wait in a circle."""
    wanted: set[str] = set()
    for names in lanes:
        if len(set(names)) < len(names):
            raise UsageError(f"a lane names the same gate twice: {', '.join(names)}")
        wanted.update(names)
    ordered = sorted(wanted)
    return {name: gate for at in range(0, len(ordered), AT_ONCE) for name, gate in _some_ids(session, ordered[at : at + AT_ONCE], settings)}


def _some_ids(session: Session, names: list[str], settings: Settings) -> Iterable[tuple[str, int]]:
    known: dict[str, int] = dict(session.rows(_GATES, {"names": names}))
    missing = [name for name in names if name not in known]
    for name in missing:
        add_gate(session, name, _default_limits(name, settings))
    return (known | dict(session.rows(_GATES, {"names": missing}))).items() if missing else known.items()


def _default_limits(name: str, settings: Settings) -> Limits:
    """Hosts are met on the way and get polite defaults. Everything else a person or an app must have named."""
    if not name.startswith("host:"):
        kind, _, rest = name.partition(":")
        advice = f"thresher sources add {rest}" if kind == "source" and rest else "name it as source:NAME or host:NAME"
        raise UnknownName(f"there is no gate {name!r}; {advice}")
    return Limits(
        max_in_flight=settings.count("host.in_flight"),
        interval_us=settings.us("host.interval"),
        trip_after=settings.count("breaker.trip_after"),
        cooldown_us=settings.us("breaker.cooldown"),
    )


def add_gate(session: Session, name: str, limits: Limits) -> bool:
    """Make a gate; False if it was there."""
    check_text(name, "the name of a gate", MAX_GATE_BYTES)
    values = {field: getattr(limits, field) for field in ("max_in_flight", "interval_us", "burst", "trip_after", "cooldown_us")}
    return session.run(_ADD_GATE, values | {"name": name}) > 0
