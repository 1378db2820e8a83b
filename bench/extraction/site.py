"""A practice catalogue as a site of its own, every page made before the first request: it is not what is
measured.

python -m bench.extraction.site --items N        prints its port, serves until it is ended
"""

import argparse
import asyncio
import contextlib

import uvloop
from aiohttp import web

from thresher.practice.web.answer import WebRequest, WebResponse
from thresher.practice.web.clock import DAY_ZERO
from thresher.practice.web.planted import address, catalogue, path_of, rows
from thresher.practice.web.sites.catalogues import site

SEED = 7


def pages_of(name: str) -> dict[str, WebResponse]:
    """The answer of every address that the walk comes to."""
    of = catalogue(name)
    assert of is not None
    listed = rows(of, SEED, 0)
    paths = {address(of, SEED, each) for each in listed}
    paths |= {path_of(of, SEED, each.number) for each in listed if each.number < of.size}
    found = {
        path: site(WebRequest(of.host, path, SEED, DAY_ZERO)) for path in (*paths, "/robots.txt", of.start)
    }
    for number in range(1, -(-len(listed) // of.per_page) + 1):
        asked = WebRequest(of.host, of.start, SEED, DAY_ZERO, query={"page": str(number)})
        found[f"{of.start}?page={number}"] = site(asked)
    return found


async def serve(pages: dict[str, WebResponse]) -> None:
    async def answer(request: web.BaseRequest) -> web.Response:
        found = pages.get(request.path_qs)
        if found is None:
            return web.Response(status=404)
        return web.Response(status=found.status, body=found.body, headers=found.headers)

    runner = web.ServerRunner(web.Server(answer, access_log=None))
    await runner.setup()
    place = web.TCPSite(runner, "127.0.0.1", 0)
    await place.start()
    print(runner.addresses[0][1], flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--items", type=int, default=5_000)
    with contextlib.suppress(KeyboardInterrupt):
        uvloop.run(serve(pages_of(f"n{parser.parse_args().items}.numbered")))
