"""Whom the search is for: a profile that a person writes, checked before it is stored."""

from typing import TYPE_CHECKING

from thresher.admin.records import write_records
from thresher.core.record import Record
from thresher.store.store import Store

if TYPE_CHECKING:
    from thresher.apps.jobs.person.profile import Profile

PROFILE, ME = "profile", "me"


def check_profile(text: str, name: str) -> "Profile":
    """The profile that a text is. Raises `ConfigError` with the line and the key that is wrong."""
    from thresher.apps.jobs.person.profile import read_profile  # noqa: PLC0415  it brings YAML along, and few commands need it

    return read_profile(text, name)


def set_profile(store: Store, text: str, name: str) -> "Profile":
    """Store the profile of a text. Postings are judged by it from now on; those judged before keep their
    decisions.
    """
    from thresher.apps.jobs.person.profile import as_json  # noqa: PLC0415

    profile = check_profile(text, name)
    write_records(store, [Record(PROFILE, ME, as_json(profile))])
    return profile
