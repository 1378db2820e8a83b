"""Logging in: count the attempt, compare the password, issue a session token.

The three steps are separate because comparing is slow on purpose and must not hold a database thread.
"""

import hashlib
import hmac
import ipaddress
import re
import secrets
from dataclasses import dataclass

from thresher.admin.admins import COST_SETTING, ROLES, nobodys
from thresher.admin.audit import acting, person_of
from thresher.admin.keys import Admitted, Denied
from thresher.core.clock import HOUR, SECOND
from thresher.store import admins
from thresher.store.admins import Allowance
from thresher.store.store import Store

IPV6_NETWORK = (
    64  # what one household or one machine is given: there are as many addresses in it as anybody could want
)
_TOKEN = re.compile(r"thl_[A-Za-z0-9_-]{43}", re.ASCII)
REFUSED = "the name or the password is wrong"


@dataclass(frozen=True, slots=True)
class LoginAttempt:
    """A try that was counted. `kept` is the hash that the password must fit; where there is nobody, one that
    none fits.

    `counted` is what it was counted against: a name, as tried from one address.
    """

    admin_id: int | None
    name: str
    kept: str
    counted: str


@dataclass(frozen=True, slots=True)
class Login:
    """Somebody who has just logged in. `token` is for the browser to hold, `csrf` for the page to send with
    every change.
    """

    token: str
    csrf: str
    name: str
    expires_at: int
    lasts_us: int


def count_try(store: Store, name: str, address: str) -> LoginAttempt | Denied:
    """Count a try against the address, and against the name as tried from there. One that is refused for
    their sake is not counted.

    Nothing is counted against a name alone: then a stranger could use up its tries, and keep its owner out.
    """
    settings, place = store.settings, address_group(address)
    counted = _name_from(name, place)
    allowances = [
        Allowance(place, settings.count("web.login_address_rate")),
        Allowance(counted, settings.count("web.login_rate")),
    ]
    with store.read(autocommit=True) as session:
        wait = admins.wait_us(session, allowances, store.backend.now(session))
        found, others = admins.admin_named(session, name), admins.list_admins(session, 1)
    if wait or not admins.charge(store, allowances):
        return Denied("too many login attempts; wait", max(1, -(-wait // SECOND)))
    kept = (
        found.password
        if found
        else nobodys(others[0].password if others else None, settings.count(COST_SETTING))
    )
    return LoginAttempt(found.id if found else None, name, kept, counted)


def log_in(store: Store, tried: LoginAttempt, *, fits: bool) -> Login | Denied:
    """Let somebody in whose password fits. Who is logged in otherwise, or brings a token along, gets a new
    one all the same.
    """
    token = f"thl_{secrets.token_urlsafe(32)}"
    lasts = round(float(store.settings["web.login_hours"]) * HOUR)
    if not fits or tried.admin_id is None:
        return Denied(REFUSED)
    until = admins.add_login(store, tried.admin_id, tried.kept, _digest(token), lasts, tried.counted)
    return Denied(REFUSED) if until is None else Login(token, csrf_of(token), tried.name, until, lasts)


def admit_login(store: Store, token: str) -> Admitted | Denied:
    """Who is logged in with this token; they may do what their role opens."""
    found = None
    if _TOKEN.fullmatch(token):
        with store.read(autocommit=True) as session:
            found = admins.login_with(session, _digest(token), store.backend.now(session))
    if found is None:
        return Denied("your login has expired; log in again: POST /api/login")
    return Admitted(found.admin_id, found.name, ROLES[found.role].scopes, role=found.role)


# What a setting says of people whom a proxy names and who are not here yet.
NEWCOMERS = (None, "viewer", "operator")


def admit_proxied(store: Store, name: str, via: str) -> Admitted | Denied:
    """Whom a trusted proxy has signed in; they may do what their role opens. Whoever is not here yet is
    refused, or becomes one of the people if web.proxy_people says so.
    """
    found = _person(store, name)
    role = NEWCOMERS[store.settings.count("web.proxy_people")]
    if found is None and role is not None:
        with acting(person_of(name, role, via, f"came through the proxy for the first time, as {role}")):
            admins.add_admin(store, name, nobodys(cost=store.settings.count(COST_SETTING)), role)
        found = _person(store, name)
    if found is None:
        return Denied(
            f"the proxy says that you are {name!r}, and there is nobody of that name here; an administrator can add "
            "you: thresher admin create NAME --role viewer"
        )
    return Admitted(found.id, found.name, ROLES[found.role].scopes, role=found.role, is_proxied=True)


def is_person(store: Store, name: str) -> bool:
    """Whether somebody of that name may still come in."""
    return _person(store, name) is not None


def _person(store: Store, name: str) -> admins.Admin | None:
    with store.read(autocommit=True) as session:
        return admins.admin_named(session, name)


def login_ends(store: Store, token: str) -> int | None:
    """Until when somebody is logged in."""
    with store.read(autocommit=True) as session:
        found = admins.login_with(session, _digest(token), store.backend.now(session))
    return found.expires_at if found else None


def log_out(store: Store, token: str) -> None:
    """End a login, wherever its token has got to."""
    admins.end_login(store, _digest(token))


def csrf_of(token: str) -> str:
    """What a page has to send with a change. It follows from the token, which no page can read; from it
    nothing follows back.
    """
    return hmac.new(token.encode("utf-8", "surrogatepass"), b"csrf", hashlib.sha256).hexdigest()


def _name_from(name: str, place: str) -> str:
    # Hashed: somebody will type their password into the wrong field.
    return f"name {_digest(name)} {place}"


def address_group(address: str) -> str:
    """What counts as one address: an IPv4 address, or an IPv6 network of 64 bits."""
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return "from nowhere"
    if isinstance(found, ipaddress.IPv6Address):
        found = found.ipv4_mapped or ipaddress.ip_network((found, IPV6_NETWORK), strict=False).network_address
    return f"from {found}"


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
