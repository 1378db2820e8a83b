"""docs/reference/events.md: the kinds of events."""

from pathlib import Path

from tests.house.pages.markdown import join, table
from thresher.config.apps import load_apps, own_apps
from thresher.core.app import App
from thresher.core.event import EventKind

INTRO = """\
What happened that you may want to know, besides the states of single tasks. Events are rows; `thresher events` shows the
newest first, `--kind` and `--source` choose. They are kept for `history.events`. What happened to one task is in its attempts:
`thresher tasks show ID`. An app lists its own kinds (`App.events`)."""


def page() -> str:
    return join(
        "Events",
        INTRO,
        table(["event", "what happened"], [[f"`{kind}`", kind.sentence] for kind in EventKind]),
        *(each for app in load_apps(own_apps(), Path()) if app.events for each in _of(app)),
    )


def _of(app: App) -> tuple[str, str]:
    rows = [[f"`{kind}`", sentence] for kind, sentence in sorted(app.events.items())]
    return f"## Of the app {app.name}", table(["event", "what happened"], rows)
