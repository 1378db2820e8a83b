"""The PostgreSQL server of a test run: one for all its processes, and none left when it ends."""

import os
from contextlib import ExitStack

import psycopg

from thresher.practice.postgres import practice_postgres

VARIABLE = "THRESHER_TEST_POSTGRES"


class Server:
    """Starts when first asked for a URL. A failure to start is kept, and every test that needs the server
    fails with it."""

    def __init__(self) -> None:
        self._running = ExitStack()
        self._answer: tuple[str, str] | None = None

    def answer(self) -> tuple[str, str]:
        """("url", where it is) or ("problem", why there is none)."""
        if self._answer is None:
            self._answer = self._start()
        return self._answer

    def _start(self) -> tuple[str, str]:
        if given := os.environ.get(VARIABLE):
            return "url", given
        try:
            url = self._running.enter_context(practice_postgres()).url
            _calm(url)
        except Exception as problem:
            return "problem", f"no PostgreSQL server can be had: {problem}"
        return "url", url

    def stop(self) -> None:
        self._running.close()


def _calm(url: str) -> None:
    # Nobody pulls the plug on a throwaway server; tests that do start one of their own. Autovacuum would look
    # at the tables of a test at a time of its own choosing: plans would depend on how busy the machine is,
    # and a schema that it has looked at is not handed on.
    with psycopg.connect(url, autocommit=True) as connection:
        for setting in ("fsync", "full_page_writes", "autovacuum"):
            connection.execute(f"alter system set {setting} = off")
        connection.execute("select pg_reload_conf()")
