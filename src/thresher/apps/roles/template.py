"""What `thresher init` writes for somebody who places candidates: a list of candidates, and a scraper."""

import csv
import io
from collections.abc import Mapping
from pathlib import Path

from thresher import ProjectDraft, ProjectQuestion, Template
from thresher.apps.roles import scraper
from thresher.core.template import parts_of

CANDIDATES, SCRAPER, PRACTICE = "candidates.csv", "scraper.py", "practice_scraper.py"
COLUMNS = ("name", "title", "skills", "tech_stack", "experience_years", "locations", "salary_min", "remote")
# What looks for roles at the search of the practice web, in place of the board of the reference scraper.
AT_PRACTICE = '''"""The reference scraper, which looks for roles at the search of the practice web."""

import scraper

from thresher.apps.roles.demo import look

scraper.main("{url}", look)
'''


def write(said: Mapping[str, str], practice: bool) -> ProjectDraft:
    """The first candidate as a file, which is read, and the scraper to change."""
    sheet = io.StringIO()
    rows = csv.writer(sheet, lineterminator="\n")
    rows.writerow(COLUMNS)
    skills = ";".join(parts_of(said["skills"]))
    rows.writerow([said["name"], said["title"], skills, "", "", said["place"], "", ""])
    program = PRACTICE if practice else SCRAPER
    board = "" if practice else " https://board.example/list.tsv"
    files = {CANDIDATES: sheet.getvalue(), SCRAPER: Path(scraper.__file__).read_text("utf-8")}
    return ProjectDraft(
        files=files | ({PRACTICE: AT_PRACTICE.format(url="http://127.0.0.1:8123")} if practice else {}),
        commands=[("add", "candidates", CANDIDATES)],
        steps=[
            ("keys create scraper --scope scrape", "make a key for your scraper; it is shown once"),
            ("up", "serve the queue of roles, match what comes in, and see it in the browser"),
            (
                f"$ THRESHER_KEY=... python {program}{board}",
                "in another terminal: look for every role that waits",
            ),
            ("candidates list", "see who has matches; thresher candidates matches NAME has their reasons"),
        ],
    )


TEMPLATE = Template(
    "Place candidates",
    (
        ProjectQuestion("name", "Name of the first candidate", "Ada Example", "Ada Okafor"),
        ProjectQuestion("title", "What they do", "Software Engineer", "Senior Python Developer"),
        ProjectQuestion("skills", "What they know", "Python, SQL", "Python, SQL, Docker"),
        ProjectQuestion("place", "Where they work: city and region or country", "Denver, CO", "Denver, CO"),
    ),
    write,
)
