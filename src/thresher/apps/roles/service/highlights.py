"""What the roles app has matched, for the first page of the dashboard."""

from thresher.apps.roles.model import CANDIDATE
from thresher.apps.roles.store.matches import MAX_SUGGESTED, count_suggested
from thresher.core.extension import Highlight
from thresher.store.records import count_records
from thresher.store.store import Store


def suggestions(store: Store) -> list[Highlight]:
    """Postings that were suggested for candidates, and not dealt with."""
    with store.read() as session:
        suggested = count_suggested(session)
        candidates = count_records(session, kind=CANDIDATE)
    among = f"for {candidates:,} {'candidate' if candidates == 1 else 'candidates'}"
    more = ", or more" if suggested >= MAX_SUGGESTED else ""
    says = f"{among}{more}" if candidates else "no candidate has been added yet"
    what = "posting suggested" if suggested == 1 else "postings suggested"
    return [Highlight(suggested, what, "/candidates", says)]


HIGHLIGHTS = (suggestions,)
