"""The audit log: who changed what, newest first."""

from urllib.parse import urlencode

from starlette.responses import Response

from thresher.admin.audit import list_changes
from thresher.admin.keys import ADMIN
from thresher.core.errors import UsageError
from thresher.web.pages.page import DashboardPage, PageRequest

PATH = "/audit"
AT_ONCE = 50
MAX_DIGITS = 15


def changes(page_request: PageRequest) -> Response:
    """Show who changed what, and when: all of it, or what one person, key or user did."""
    asked = page_request.request.query_params
    who, store = asked.get("who", "").strip() or None, page_request.runtime.store
    found = list_changes(store, who=who, limit=AT_ONCE + 1, before=_before(asked.get("before")))
    older = {"who": who or "", "before": found[AT_ONCE - 1]["id"]} if len(found) > AT_ONCE else None
    return page_request.show(
        "audit.html",
        changes=found[:AT_ONCE],
        who_wanted=who,
        before=asked.get("before"),
        days=store.settings["history.audit"],
        next=older and f"{PATH}?{urlencode({name: value for name, value in older.items() if value})}",
    )


def _before(said: str | None) -> int | None:
    if said is None:
        return None
    if not (said.isascii() and said.isdecimal() and 0 < len(said) <= MAX_DIGITS):
        raise UsageError(f"before must be the id of a row, got {said[:40]!r}")
    return int(said)


PAGES = (
    DashboardPage("GET", PATH, changes, "Audit log", "Admin", frozenset({"who", "before"}), scope=ADMIN),
)
