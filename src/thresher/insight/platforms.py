"""Platforms as a person sees them: how often, how many at once, how many are there now, and why one is
paused.
"""

from dataclasses import dataclass

from thresher.core.clock import SECOND
from thresher.store.roles.platforms import Platform, list_platforms
from thresher.store.store import Store


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
