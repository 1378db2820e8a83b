"""What the apps about hiring share: postings, and which of them are the same opening.

It has no pipelines. An app that keeps such records needs it, and is enabled together with it.
"""

from thresher.core.app import App
from thresher.core.extension import Command

app = App(
    "hiring",
    commands=(
        Command(
            "postings",
            "See postings, and which of them are the same opening.",
            "thresher.apps.hiring.cli:app",
        ),
    ),
    routes=("thresher.apps.hiring.http:ROUTES",),
    pages="thresher.apps.hiring.pages:PAGES",
    templates="thresher.apps.hiring:templates",
    exports="thresher.apps.hiring.exports:EXPORTS",
    tools={
        "list_postings": "GET /api/postings",
        "show_posting": "GET /api/postings/{key}",
    },
)
