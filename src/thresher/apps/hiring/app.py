"""What the apps about hiring share: companies, their boards, and the postings on them.

It has no pipelines. An app that keeps such records needs it, and is enabled together with it.
"""

from thresher.core.app import App
from thresher.core.extension import Command

app = App(
    "hiring",
    commands=(
        Command("companies", "See the companies that are followed.", "thresher.cli.companies:app"),
        Command(
            "boards",
            "See, test, enable, disable the boards that postings come from.",
            "thresher.cli.boards:app",
        ),
        Command(
            "postings",
            "See postings, and which of them are the same opening.",
            "thresher.cli.postings:app",
        ),
    ),
)
