"""People who may log in, what their role lets them do, and their passwords.

The first of them is an administrator, who is created on the command line, or with the setup token that a
server prints when it starts.
"""

import hashlib
import hmac
import secrets
import shlex
import unicodedata
from dataclasses import dataclass

from thresher.admin.keys import ADMIN, READ, WRITE
from thresher.core.clock import HOUR
from thresher.core.errors import NotAllowed, UnknownName, UsageError
from thresher.store import admins
from thresher.store.admins import Admin
from thresher.store.store import Store

# Passwords: length limits and the scrypt hash that is stored.

MIN_LENGTH, MAX_LENGTH = 12, 1_024
DEFAULT_COST = 15  # scrypt's N as a power of two
_R, _P = 8, 3
_SIZE = 32


def check_password(password: str, name: str) -> None:
    """Refuse a password that is too short, too long, or the name itself."""
    if not MIN_LENGTH <= len(password) <= MAX_LENGTH:
        raise UsageError(
            f"a password must have {MIN_LENGTH} to {MAX_LENGTH:,} characters, this one has {len(password):,}"
        )
    if password.casefold() == name.casefold():
        raise UsageError("the password must not be the name; choose another")


def generated() -> str:
    """Generate a password with 144 random bits."""
    return secrets.token_urlsafe(18)


def hashed(password: str, cost: int = DEFAULT_COST) -> str:
    """Hash a password, with its salt and parameters. Slow on purpose."""
    salt = secrets.token_bytes(16)
    return f"scrypt${cost}${_R}${_P}${salt.hex()}${_scrypt(password, salt, cost, _R, _P).hex()}"


def nobodys(like: str | None = None, cost: int = DEFAULT_COST) -> str:
    """Return a hash that no password has, as slow to check as any: compare with it when the name is unknown,
    so that timing reveals nothing.
    """
    price = like.split("$")[1:4] if like else [str(cost), str(_R), str(_P)]
    return "$".join(["scrypt", *price, secrets.token_hex(16), secrets.token_hex(_SIZE)])


def fits(password: str, kept: str) -> bool:
    """Tell whether a password matches a hash. As slow as hashing."""
    _, cost, r, p, salt, digest = kept.split("$")
    return hmac.compare_digest(
        _scrypt(password, bytes.fromhex(salt), int(cost), int(r), int(p)), bytes.fromhex(digest)
    )


def _scrypt(password: str, salt: bytes, cost: int, r: int, p: int) -> bytes:
    # One letter can be written in several ways, and which one is up to the keyboard.
    text = unicodedata.normalize("NFKC", password[:MAX_LENGTH]).encode("utf-8", "surrogatepass")
    return hashlib.scrypt(text, salt=salt, n=2**cost, r=r, p=p, maxmem=2**cost * r * 256, dklen=_SIZE)


MAX_NAME = 100
SETUP_LASTS_US = HOUR
COST_SETTING = "web.password_cost"


@dataclass(frozen=True, slots=True)
class PersonRole:
    """What a person may do: the scopes that a login opens, and the sentence that says so."""

    scopes: tuple[str, ...]
    sentence: str


ROLES: dict[str, PersonRole] = {
    "viewer": PersonRole((READ,), "sees everything but keys and people, and changes nothing"),
    "operator": PersonRole((READ, WRITE), "also changes tasks, sources, settings and what apps look for"),
    "admin": PersonRole((ADMIN,), "also manages keys and people, and what only an administrator may undo"),
}


def role_for(scope: str) -> str | None:
    """The least role that opens a scope; None if no role does."""
    return next((name for name, role in ROLES.items() if scope in role.scopes), None)


def create_admin(store: Store, name: str, password: str, role: str = ADMIN) -> Admin:
    """Let somebody log in."""
    check_admin(name, password)
    return create_with(store, name, hashed(password, store.settings.count(COST_SETTING)), role)


def create_with(store: Store, name: str, kept: str, role: str) -> Admin:
    """The same with a checked name and the hash of a checked password."""
    check_role(role)
    made = admins.add_admin(store, name, kept, role)
    if made is None:
        raise NotAllowed(
            f"there is already somebody called {name!r}; to change the password run thresher admin password "
            f"{shlex.quote(name)}"
        )
    return made


def change_role(store: Store, name: str, role: str) -> Admin:
    """Let somebody do more or less. It counts from their next request on."""
    check_role(role)
    try:
        changed = admins.change_role(store, name, role)
    except admins.LastAdmin:
        raise _last(name) from None
    if changed is None:
        raise _nobody(name)
    return changed


def check_role(role: str) -> None:
    """Refuse what is no role."""
    if role not in ROLES:
        raise UsageError(f"a role must be one of {', '.join(ROLES)}; got {role[:MAX_NAME]!r}")


def _last(name: str) -> NotAllowed:
    return NotAllowed(
        f"{name!r} is the only administrator, and without one nobody could manage keys and people; make somebody "
        "else one first: thresher admin role NAME admin"
    )


def change_password(store: Store, name: str, password: str) -> Admin:
    """Set another password for somebody, and end all their logins."""
    check_password(password, name)
    return put_password(store, name, hashed(password, store.settings.count(COST_SETTING)))


def put_password(store: Store, name: str, kept: str) -> Admin:
    """The same with the hash of a checked password."""
    changed = admins.change_password(store, name, kept)
    if changed is None:
        raise _nobody(name)
    return changed


def replace_password(store: Store, name: str, was: str, kept: str) -> bool:
    """Put a hash in the place of the one that was compared; False if it has been changed since."""
    return admins.change_password(store, name, kept, was) is not None


def remove_admin(store: Store, name: str) -> Admin:
    """Remove somebody, who is logged out everywhere."""
    try:
        removed = admins.remove_admin(store, name)
    except admins.LastAdmin:
        raise _last(name) from None
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
    """Tell whether a token is valid for the first administrator. Check it before hashing the password, so
    that strangers cannot cause that work.
    """
    with store.read(autocommit=True) as session:
        return admins.setup_is_open(session, _digest(token), store.backend.now(session))


def first_admin(store: Store, token: str, name: str, kept: str) -> Admin | None:
    """Use a token for the first administrator, with the hash of the password; None if it is no
    longer valid.
    """
    return admins.first_admin(store, _digest(token), name, kept)


def is_name(name: str) -> bool:
    """Tell whether a person can be called so."""
    return 0 < len(name) <= MAX_NAME and name.isprintable() and name == name.strip()


def check_admin(name: str, password: str) -> None:
    """Refuse a name or a password that nobody can have."""
    if not is_name(name):
        raise UsageError(
            f"a name must have 1 to {MAX_NAME} visible characters and no space at "
            f"either end; got {name[:MAX_NAME]!r}"
        )
    check_password(password, name)


def _nobody(name: str) -> UnknownName:
    return UnknownName(
        f"there is nobody called {name[:MAX_NAME]!r}; thresher admin list shows who can log in"
    )


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True)
class AdminView:
    """One person who may log in."""

    id: int
    name: str
    role: str
    created_at: int
    changed_at: int
    login_at: int | None


def person_name(store: Store, person_id: int) -> str:
    """The name of the person with this id."""
    with store.read(autocommit=True) as session:
        found = admins.admin_with(session, person_id)
    if found is None:
        raise UnknownName(f"there is nobody with the id {person_id}; see the list of people")
    return found.name


def list_admins(store: Store) -> list[AdminView]:
    """All of them, the oldest first."""
    with store.read() as session:
        return [admin_view(each) for each in admins.list_admins(session)]


def has_admins(store: Store) -> bool:
    """Whether there is an administrator."""
    with store.read() as session:
        return admins.any_admin(session)


def admin_view(admin: Admin) -> AdminView:
    """A person as a line of a list."""
    return AdminView(admin.id, admin.name, admin.role, admin.created_at, admin.changed_at, admin.login_at)
