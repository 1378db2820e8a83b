"""What the schedules of the roles app ask for as effects: ending sessions that are over, and bringing rested
roles back.
"""

from collections.abc import Mapping
from typing import Any

from thresher.config.settings import Settings
from thresher.core.clock import HOUR
from thresher.governance.demand import Demand
from thresher.governance.turns import Pace
from thresher.store.roles.place import repeat_stalled, reset_roles
from thresher.store.roles.scrapes import expire_scrapes
from thresher.store.session import Session

AT_ONCE = 500
_CHANGED = "select name, value from settings where name like 'roles.%'"


def expire_sessions(session: Session, data: Mapping[str, Any], now: int) -> None:
    """End every session whose time is over. `data` may bring `pace` and `demand`, as their fields."""
    pace, demand = _pace(session, data), _demand(session, data)
    while expire_scrapes(session, now, pace, demand, AT_ONCE, session.dialect.skip) == AT_ONCE:
        pass


def reset_rested(session: Session, data: Mapping[str, Any], now: int) -> None:
    """Bring back every role that has rested since `before`; unsaid, for `roles.reset_after`. `data` may bring
    `demand`.
    """
    demand = _demand(session, data)
    rests = round(_settings(session)["roles.reset_after"] * HOUR)
    before = int(data.get("before", now - rests))
    while reset_roles(session, before, now, demand, AT_ONCE) == AT_ONCE:
        pass
    last: int | None = 0
    while last is not None:
        last = repeat_stalled(session, before, now, last, AT_ONCE)


def _pace(session: Session, data: Mapping[str, Any]) -> Pace:
    return Pace(**data["pace"]) if "pace" in data else Pace.of(_settings(session))


def _demand(session: Session, data: Mapping[str, Any]) -> Demand:
    return Demand(**data["demand"]) if "demand" in data else Demand.of(_settings(session))


def _settings(session: Session) -> Settings:
    """Those that were changed at run time, over the defaults."""
    return Settings({name: value for name, value in session.rows(_CHANGED) if name in Settings()})
