"""Platforms: add, change, remove, pause, resume and list them. Names are lower case."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from thresher.admin.times import NONE, seconds, whole
from thresher.apps.roles.store import platforms
from thresher.apps.roles.store.platforms import Platform, find_platform, list_platforms
from thresher.core.clock import FOREVER, SECOND, to_us
from thresher.core.errors import UnknownName, UsageError
from thresher.store.events import record_event
from thresher.store.session import Session
from thresher.store.store import Store
from thresher.store.transaction import in_transaction

MAX_SECONDS = 10 * 365 * 86_400.0

_PARSERS: Mapping[str, Callable[[str], dict[str, Any]]] = {
    "every": lambda text: {"every_us": 0 if text.strip().lower() in NONE else to_us(_checked(seconds(text)))},
    "per_minute": lambda text: {"per_minute": whole(text, "per-minute")},
    "in_flight": lambda text: {"in_flight": whole(text, "in-flight")},
}


def save(store: Store, name: str, wanted: Mapping[str, str | None]) -> Platform:
    """Add a platform, or change one that is there. What is not said stays as it is; "none" takes a limit
    away.
    """

    def work(session: Session) -> Platform:
        found = find_platform(session, name.lower()) or Platform(name.lower())
        for key, text in wanted.items():
            if text is not None:
                found = replace(found, **_PARSERS[key](text))
        platforms.save_platform(session, found, store.backend.now(session))
        return found

    return in_transaction(store, work)


# Requests per minute that well-known job boards bear, as scrapers are asked to keep them.
PRESETS: Mapping[str, Mapping[str, int]] = {
    "job-boards": {"monster": 30, "indeed": 20, "glassdoor": 15, "techfetch": 60, "dice": 30},
}


@dataclass(frozen=True, slots=True)
class PresetAdded:
    """What a preset brought: platforms that are new, and those that were there and stay as they are."""

    preset: str
    added: list[str]
    kept: list[str]


def add_preset(store: Store, preset: str) -> PresetAdded:
    """Add the platforms of a preset with their limits. One that is there already keeps its own."""
    if preset not in PRESETS:
        raise UsageError(f"there is no preset {preset[:80]!r}; the presets are: {', '.join(PRESETS)}")

    def work(session: Session) -> PresetAdded:
        now, found = store.backend.now(session), PresetAdded(preset, [], [])
        for name, per_minute in PRESETS[preset].items():
            if find_platform(session, name) is not None:
                found.kept.append(name)
            else:
                platforms.save_platform(session, Platform(name, per_minute=per_minute), now)
                found.added.append(name)
        return found

    return in_transaction(store, work)


def remove(store: Store, name: str) -> None:
    """Remove a platform. Running sessions there may finish."""
    _must(
        name,
        in_transaction(
            store,
            lambda session: platforms.remove_platform(session, name.lower(), store.backend.now(session)),
        ),
    )


def pause(store: Store, name: str, lasts: float | None, reason: str | None) -> None:
    """Let no scraper begin there for a time, or until it is resumed."""
    length = FOREVER if lasts is None else to_us(_checked(lasts))

    def work(session: Session) -> bool:
        now = store.backend.now(session)
        until = FOREVER if lasts is None else now + length
        found = platforms.pause_platform(session, name.lower(), until, reason)
        if found:
            record_event(session, "platform_paused", now, platform=name.lower(), until=until, reason=reason)
        return found

    _must(name, in_transaction(store, work))


def resume(store: Store, name: str) -> None:
    """Let scrapers begin there again, and forget its failures."""

    def work(session: Session) -> bool:
        found = platforms.resume_platform(session, name.lower())
        if found:
            record_event(session, "platform_resumed", store.backend.now(session), platform=name.lower())
        return found

    _must(name, in_transaction(store, work))


def _checked(lasts: float) -> float:
    if not 0 < lasts <= MAX_SECONDS:
        raise UsageError("a duration must be longer than 0 seconds and at most ten years")
    return lasts


def _must(name: str, found: bool) -> None:
    if not found:
        raise UnknownName(f"there is no platform {name[:80]!r}; thresher platforms list shows them")


@dataclass(frozen=True, slots=True)
class PlatformView:
    """One platform. `state` is open or paused."""

    name: str
    state: str
    every_seconds: float
    requests_per_minute: int | None
    in_flight: int | None
    failures: int
    opens_at: int | None
    reason: str | None


def list_views(store: Store) -> list[PlatformView]:
    """All platforms, by name."""
    with store.read() as session:
        now = store.backend.now(session)
        return [platform_view(each, now) for each in list_platforms(session)]


def platform_view(platform: Platform, now: int) -> PlatformView:
    """One platform as a line of a list."""
    paused = platform.paused_until > now
    return PlatformView(
        platform.name,
        "paused" if paused else "open",
        platform.every_us / SECOND,
        platform.per_minute,
        platform.in_flight,
        platform.failures,
        platform.paused_until if paused else None,
        platform.paused_reason if paused else None,
    )
