"""What the jobs app has found for you, for the first page of the dashboard."""

from thresher.apps.hiring.checks import none_yet, what_was_checked
from thresher.apps.jobs.model import MATCH, Status
from thresher.core.extension import Highlight
from thresher.hiring.kinds import POSTING
from thresher.store.records import count_words
from thresher.store.store import Store


def matches_and_postings(store: Store) -> list[Highlight]:
    """Matches that you have not dealt with, and the postings they come from."""
    with store.read() as session:
        matches = count_words(session, MATCH, "status")
        postings = count_words(session, POSTING, "state")
    new, is_open = matches.get(Status.NEW, 0), postings.get("open", 0)
    others = sum(matches.values()) - new
    if new:
        says = f"and {others:,} that you have dealt with" if others else ""
    else:
        says = "you have dealt with all of them" if others else none_yet(what_was_checked(store), "matches")
    return [
        Highlight(new, "new match" if new == 1 else "new matches", "/jobs/matches", says),
        Highlight(
            is_open, "open posting" if is_open == 1 else "open postings", "/hiring/postings?state=open"
        ),
    ]


HIGHLIGHTS = (matches_and_postings,)
