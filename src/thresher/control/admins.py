"""Administrators: made on the command line, or the first one with the token that a server shows when it
starts.
"""

import hashlib
import secrets
import shlex

from thresher.control.password import check_password, hashed
from thresher.core.clock import HOUR
from thresher.core.errors import NotAllowed, UnknownName, UsageError
from thresher.store import admins
from thresher.store.admins import Admin
from thresher.store.store import Store

MAX_NAME = 100
SETUP_LASTS_US = HOUR
COST = "web.password_cost"


def create_admin(store: Store, name: str, password: str) -> Admin:
    """Make an administrator."""
    check_admin(name, password)
    made = admins.add_admin(store, name, hashed(password, store.settings.count(COST)))
    if made is None:
        raise NotAllowed(
            f"there is an administrator {name!r} already; another password: thresher admin password {shlex.quote(name)}"
        )
    return made


def change_password(store: Store, name: str, password: str) -> Admin:
    """Give an administrator another password. Wherever they are logged in, they are no longer."""
    check_password(password, name)
    changed = admins.change_password(store, name, hashed(password, store.settings.count(COST)))
    if changed is None:
        raise _nobody(name)
    return changed


def remove_admin(store: Store, name: str) -> Admin:
    """Remove an administrator, who is logged out everywhere."""
    removed = admins.remove_admin(store, name)
    if removed is None:
        raise _nobody(name)
    return removed


def new_setup(store: Store) -> str | None:
    """A token for the first administrator, good for an hour, once; the one before it is good no more. None if
    there is one already.
    """
    token = f"ths_{secrets.token_urlsafe(32)}"
    return token if admins.put_setup(store, _digest(token), SETUP_LASTS_US) else None


def setup_is_open(store: Store, token: str) -> bool:
    """Whether a token makes the first administrator. Asked before the password is hashed: strangers shall not
    have that for nothing.
    """
    with store.glance() as session:
        return admins.setup_is_open(session, _digest(token), store.backend.now(session))


def first_admin(store: Store, token: str, name: str, kept: str) -> Admin | None:
    """Use a token up for the first administrator, with the hash of the password; None if it is good no
    more.
    """
    return admins.first_admin(store, _digest(token), name, kept)


def check_admin(name: str, password: str) -> None:
    """Refuse a name or a password that an administrator cannot have."""
    if not name or len(name) > MAX_NAME or not name.isprintable() or name != name.strip():
        raise UsageError(
            f"an administrator's name is at most {MAX_NAME} characters that can be seen, no space at its ends; got {name[:MAX_NAME]!r}"
        )
    check_password(password, name)


def _nobody(name: str) -> UnknownName:
    return UnknownName(f"there is no administrator {name[:MAX_NAME]!r}; thresher admin list shows them")


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
