"""Two companies of the practice web, crawled politely: one keeps its postings on a board, one on its own pages.

Start the practice web with `python -m thresher.practice.web --port 8123`, and let the project lead every host name there:

    fetch:
      resolve: {"*": "http://127.0.0.1:8123"}
"""

import json
import re
from urllib.parse import urljoin

from thresher import App, Context, Done, NewTask, Next, Outcome, Pipeline, Record, Stage

BOARD = re.compile(r"greenhouse\.io/(?:embed/job_board/js\?for=)?(\w+)")
OPENING = re.compile(r'<a href="(/careers/(\d+)-[^"]*)">([^<]*)</a>')
NEXT = re.compile(r'rel="next" href="([^"]*)"')


async def visit(ctx: Context) -> Outcome:
    """From the home page to the careers page."""
    home = await ctx.fetch(f"https://www.{ctx.task.payload['company']}.example/")
    link = re.search(r'href="(/(?:careers?|jobs))"', home.body.decode())
    return Next({"careers": urljoin(home.final_url, link[1])}) if link else Done()


async def ask(ctx: Context) -> Outcome:
    """From the careers page to the board, and all its postings at once."""
    careers = await ctx.fetch(ctx.task.checkpoint["careers"])
    board = BOARD.search(careers.body.decode())
    if not board:
        return Done(children=(NewTask("listing", url=careers.final_url),))
    page = await ctx.fetch(f"https://boards-api.greenhouse.io/v1/boards/{board[1]}/jobs")
    rows = json.loads(page.body)["jobs"]
    return Done(records=tuple(Record("posting", row["absolute_url"], {"title": row["title"]}) for row in rows))


async def turn(ctx: Context) -> Outcome:
    """One page of a listing: its postings, and the page after it."""
    page = await ctx.fetch(ctx.task.url or "")
    text = page.body.decode()
    records = tuple(Record("posting", urljoin(page.final_url, path), {"title": title}) for path, _, title in OPENING.findall(text))
    after = NEXT.search(text)
    return Done(records=records, children=(NewTask("listing", url=urljoin(page.final_url, after[1])),) if after else ())


app = App(
    "practice",
    pipelines=(Pipeline("company", Stage(visit), Stage(ask)), Pipeline("listing", Stage(turn))),
    start=tuple(NewTask("company", {"company": name}, key=name) for name in ("acme", "kestrel")),
)
