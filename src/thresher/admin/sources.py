"""Sources and other gates: create, limit, pause, resume, disable, enable and test them."""

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from thresher.admin.times import point_in_time, read_now, seconds, whole
from thresher.core.clock import FOREVER, SECOND, to_us
from thresher.core.errors import NotAllowed, UnknownName, UsageError
from thresher.core.gate import GateLimits, interval_us
from thresher.core.keys import PREFIX
from thresher.core.pipeline import Source
from thresher.engine.registry import Registry
from thresher.store import host_rules, sources
from thresher.store.gates import BY_ADMIN
from thresher.store.permits import PROMPT_US
from thresher.store.sources import gate_called
from thresher.store.store import Store

PROBE_SECONDS = 60.0
TAG, PAUSED = "manual", "paused"
MAX_PAUSE = 10 * 365 * 86_400.0  # seconds

_PARSERS: Mapping[str, Callable[[str], dict[str, Any]]] = {
    "rate": lambda text: {"interval_us": interval_us(text)},
    "burst": lambda text: {"burst": whole(text, "burst") or 1},
    "in_flight": lambda text: {"max_in_flight": whole(text, "in-flight")},
    "trip_after": lambda text: {"trip_after": whole(text, "trip-after")},
    "cooldown": lambda text: {"cooldown_us": to_us(seconds(text))},
}


@dataclass(frozen=True, slots=True)
class Probe:
    """What a test found. `ran` is False where no app declares a probe for this source."""

    ran: bool
    ok: bool
    says: str | None


def add(store: Store, name: str, wanted: Mapping[str, str | None]) -> None:
    """Make a source with these limits (as text; what is None keeps its default)."""
    if not name or ":" in name or any(char.isspace() for char in name):
        raise UsageError(f"a source's name must not contain spaces or colons, got {name!r}")
    usual = Source(name)
    limits = GateLimits(trip_after=usual.trip_after, cooldown_us=to_us(usual.cooldown))
    if not sources.add_source(store, name, _changed(limits, wanted)):
        raise NotAllowed(
            f"source {name!r} already exists; to change its limits: thresher sources limit {name}"
        )


def limit(store: Store, name: str, wanted: Mapping[str, str | None]) -> None:
    """Change some limits of a gate; the others stay. "none" takes a limit away."""
    if not any(wanted.values()):
        raise UsageError(
            f"name the limit to change: {', '.join('--' + key.replace('_', '-') for key in _PARSERS)}"
        )
    gate = _find(store, name)
    now = GateLimits(**{field: gate[field] for field in GateLimits.__dataclass_fields__})
    sources.set_limits(store, gate["name"], _changed(now, wanted))


def _changed(limits: GateLimits, wanted: Mapping[str, str | None]) -> GateLimits:
    for key, text in wanted.items():
        if text is not None:
            limits = replace(limits, **_PARSERS[key](text))
    return limits


def pause(store: Store, name: str, for_seconds: float, reason: str, *, by_admin: bool = True) -> None:
    """Close a gate for a time. Its tasks wait, and lose nothing. What an administrator has paused, an
    administrator resumes.
    """
    if not for_seconds > 0:
        raise UsageError("a pause must be longer than 0 seconds; to reopen a source: thresher sources resume")
    if for_seconds > MAX_PAUSE:
        raise UsageError(_TOO_LONG)
    gate = _pausable(store, name)
    sources.pause(store, gate, to_us(for_seconds), reason, BY_ADMIN if by_admin else PAUSED)
    _let_the_last_leave()


def pause_until(store: Store, name: str, until: int, reason: str, *, by_admin: bool = True) -> None:
    """The same until a point in time."""
    if until > read_now(store) + to_us(MAX_PAUSE):
        raise UsageError(_TOO_LONG)
    sources.pause_until(store, _pausable(store, name), until, reason, BY_ADMIN if by_admin else PAUSED)
    _let_the_last_leave()


_TOO_LONG = "a pause may last at most ten years; to close a source for good, disable it"


def pause_as_asked(
    store: Store, name: str, lasts: str | None, until: str | None, reason: str, *, by_admin: bool = True
) -> None:
    """Close a gate for a length of time (2h) or until a point in time (2026-11-20 08:00 UTC), as somebody
    wrote it.
    """
    match lasts, until:
        case str(), None:
            pause(store, name, seconds(lasts), reason, by_admin=by_admin)
        case None, str():
            pause_until(store, name, point_in_time(until), reason, by_admin=by_admin)
        case _:
            raise UsageError(
                "say either how long the pause lasts (for: 90s, 2h, 1d) or when it ends (until: 2026-11-20 08:00 UTC), and not both"
            )


def _pausable(store: Store, name: str) -> str:
    gate = _find(store, name)
    if gate["open_after"] >= FOREVER:
        raise NotAllowed(f"{gate['name']} is disabled, and a pause would reopen it later; enable it first")
    return str(gate["name"])


def _let_the_last_leave() -> None:
    """Whoever had its last look before the gate closed has sent by then: after this nothing goes out any
    more.
    """
    time.sleep(PROMPT_US / SECOND)


def resume(store: Store, name: str, *, by_admin: bool = True) -> None:
    """End a pause, or a tripped breaker's cooldown. The pause of an administrator ends for one."""
    gate = _find(store, name)
    if gate["open_after"] >= FOREVER:
        why = f"{gate['closed_tag']}: {gate['closed_reason']}"
        raise NotAllowed(
            f"{gate['name']} is disabled, not paused ({why}); open it with: thresher sources enable {name}"
        )
    sources.resume(store, gate["name"], by_admin=by_admin)


def disable(store: Store, name: str, reason: str, *, by_admin: bool = True) -> None:
    """Close a gate until a person opens it; what an administrator has closed, an administrator. Whoever has
    the command line is one.
    """
    sources.disable(store, _find(store, name)["name"], BY_ADMIN if by_admin else TAG, reason)
    _let_the_last_leave()


def enable(store: Store, name: str, *, by_admin: bool = True) -> None:
    """Open a gate, whatever closed it, and forget its failures."""
    sources.resume(store, _find(store, name)["name"], by_admin=by_admin)


def waive_robots(store: Store, name: str, reason: str) -> None:
    """Go past the robots.txt of a host, or of whatever a source leads to. By name and with a reason that is
    kept and shown.
    """
    if not reason.strip():
        raise UsageError(
            f'give a reason; it is shown with {name}: thresher sources robots {name} off --reason "..."'
        )
    host_rules.waive_robots(store, _gate_to_be(store, name), reason.strip())


def mind_robots(store: Store, name: str) -> None:
    """Keep to robots.txt again."""
    host_rules.mind_robots(store, _gate_to_be(store, name))


def _gate_to_be(store: Store, name: str) -> str:
    """A host may be decided about before it is first met; anything else must be there."""
    return name if name.startswith(PREFIX) and len(name) > len(PREFIX) else str(_find(store, name)["name"])


def test(store: Store, registry: Registry, name: str) -> Probe:
    """Run the probe that an app declares for this source, and let its gate hear how it went."""
    source = _declared(store, registry, name)
    return _judged(store, source, asyncio.run(_probe(source)))


async def test_here(store: Store, registry: Registry, name: str) -> Probe:
    """The same for a server, which does other things while the source takes its time."""
    source = await store.run(_declared, store, registry, name)
    return await store.run(_judged, store, source, await _probe(source))


def has_probe(registry: Registry, gate: str) -> bool:
    """Tell whether an app declares a probe for this gate."""
    return any(each.gate == gate and each.probe for app in registry.apps for each in app.sources)


def _declared(store: Store, registry: Registry, name: str) -> Source | None:
    gate = _find(store, name)["name"]
    return next((each for app in registry.apps for each in app.sources if each.gate == gate), None)


def _judged(store: Store, source: Source | None, found: Probe) -> Probe:
    if source is not None and found.ran:
        sources.judge_source(store, source.gate, None if found.ok else found.says)
    return found


async def _probe(source: Source | None) -> Probe:
    if source is None or source.probe is None:
        return Probe(ran=False, ok=True, says=None)
    try:
        async with asyncio.timeout(PROBE_SECONDS):
            return Probe(ran=True, ok=True, says=await source.probe())
    except TimeoutError:
        return Probe(ran=True, ok=False, says=f"TimedOut: no response within {PROBE_SECONDS:g} seconds")
    except Exception as problem:  # noqa: BLE001  a probe says what is wrong by raising anything
        return Probe(ran=True, ok=False, says=f"{type(problem).__name__}: {problem}")


def _find(store: Store, name: str) -> dict[str, Any]:
    with store.read() as session:
        found = sources.find_gates(session, name=gate_called(name))
    if not found:
        kind = "gate" if ":" in name else "source"
        raise UnknownName(f"there is no {kind} {name!r}; thresher sources list --all shows them")
    return found[0]
