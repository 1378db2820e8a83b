"""docs/reference/events.md: the kinds of events."""

from tests.house.pages.markdown import join, table
from thresher.core.event import EventKind

INTRO = """\
What happened that a person may want to know of, besides the life of single tasks. Events are rows; `thresher events` shows the
newest first, `--kind` and `--source` choose. They are kept for `history.events`. What happened to one task is in its attempts:
`thresher tasks show ID`."""


def page() -> str:
    return join(
        "Events",
        INTRO,
        table(["event", "what happened"], [[f"`{kind}`", kind.sentence] for kind in EventKind]),
    )
