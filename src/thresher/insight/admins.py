"""Administrators as a person sees them: since when they are, and when they last logged in."""

from dataclasses import dataclass

from thresher.store import admins
from thresher.store.admins import Admin
from thresher.store.store import Store


@dataclass(frozen=True, slots=True)
class AdminView:
    """One administrator."""

    id: int
    name: str
    created_at: int
    changed_at: int
    login_at: int | None


def list_admins(store: Store) -> list[AdminView]:
    """All of them, the oldest first."""
    with store.read() as session:
        return [admin_view(each) for each in admins.list_admins(session)]


def has_admins(store: Store) -> bool:
    """Whether anybody could log in."""
    with store.read() as session:
        return admins.any_admin(session)


def admin_view(admin: Admin) -> AdminView:
    """An administrator as a line of a list."""
    return AdminView(admin.id, admin.name, admin.created_at, admin.changed_at, admin.login_at)
