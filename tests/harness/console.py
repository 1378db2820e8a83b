"""What the console of a browser says about our pages."""

from playwright.sync_api import Page

HEARD = (
    "error",
    "warning",
)  # the rest is advice of this browser, such as that somebody took the focus before


def hear_complaints(page: Page, told: list[str]) -> None:
    """Keep what the console of a page complains about."""
    page.on("console", lambda message: told.append(message.text) if message.type in HEARD else None)
