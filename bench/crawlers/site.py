"""The site that is crawled: pages of about 20 KB with a title, a price and a stock line, served by a process
of its own.

python -m bench.crawlers.site        prints its port, serves until it is ended
"""

import asyncio
import contextlib
import sys

from aiohttp import web

DIFFERENT = 200
WORDS = (
    "wood",
    "copper",
    "linen",
    "harbour",
    "lantern",
    "orchard",
    "mill",
    "ferry",
    "granite",
    "ledger",
    "saddle",
    "kettle",
)


def page(number: int) -> bytes:
    words = [WORDS[(number * 7 + at * at) % len(WORDS)] for at in range(2_700)]
    body = "".join(f"<p>{' '.join(words[at : at + 60])}</p>\n" for at in range(0, len(words), 60))
    links = "".join(
        f'<li><a href="/page/{(number + step) % DIFFERENT}">{words[step]}</a></li>' for step in range(1, 40)
    )
    return (
        f"<!doctype html><html lang=en><head><meta charset=utf-8><title>Thing {number}</title></head><body><nav><ul>{links}</ul></nav>"
        f'<main><h1>Thing {number}</h1><p class="price">£{10 + number % 90}.{number % 100:02d}</p>'
        f'<p class="availability">In stock ({number % 20} left)</p>{body}</main></body></html>'
    ).encode()


PAGES = [page(number) for number in range(DIFFERENT)]


async def thing(request: web.Request) -> web.Response:
    number = int(request.match_info["number"]) % DIFFERENT
    return web.Response(body=PAGES[number], headers={"content-type": "text/html; charset=utf-8"})


async def robots(_: web.Request) -> web.Response:
    return web.Response(text="User-agent: *\nDisallow: /private/\n")


async def serve() -> None:
    app = web.Application()
    app.add_routes([web.get("/page/{number}", thing), web.get("/robots.txt", robots)])
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    print(runner.addresses[0][1], flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    if sys.platform != "win32":
        import uvloop

        uvloop.install()
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(serve())
