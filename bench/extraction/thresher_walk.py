"""Thresher: an extraction by `thresher worker`, from its start to COMPLETE. The recipe was detected before,
as the rivals' selectors were written before; what reads the details is learned within the measured time, from
what a scripted model says of the first pages.

The processor time of a PostgreSQL server is not counted.
"""

import json
import time

from bench.extraction.processes import cpu_seconds, resident_mb
from bench.extraction.walk import IN_FLIGHT, check, tell, walk
from bench.extraction_scale import RECIPE, every_item, prepared, thresher, write_project

from thresher.apps.extractions.app import app
from thresher.apps.extractions.service import extractions
from thresher.runtime import opened_store

EVERY = 0.25


def main() -> None:
    given = walk()
    url = given.database or f"sqlite:///{given.folder}/walk.db?durability=process"
    write_project(given.folder, url, given.catalogue, given.web, IN_FLIGHT, site=given.site)
    with opened_store(url, apps=(app,)) as store, prepared(given.folder, store, IN_FLIGHT) as process:
        before, memory = cpu_seconds(process.pid), 0
        number = int(json.loads(thresher(given.folder, "--json", "extract", "run", RECIPE))["extraction"])
        while (view := extractions.show_extraction(store, number)).status in ("WAITING", "IN_PROGRESS"):
            memory = max(memory, resident_mb(process.pid))
            time.sleep(EVERY)
        used = cpu_seconds(process.pid) - before
        if view.status != "COMPLETE" or view.ended_at is None:
            raise SystemExit(f"the extraction is {view.status}: {view.reason}")
        check("Thresher", given, [each.values for each in every_item(store, view)])
    pages = sum(step.succeeded for step in view.steps)
    name = "Thresher, PostgreSQL" if given.setting else "Thresher, SQLite"
    kept = "items with evidence, every page, its Markdown, a durable queue"
    tell(name, pages, (view.ended_at - view.created_at) / 1e6, used, memory, kept)


if __name__ == "__main__":
    main()
