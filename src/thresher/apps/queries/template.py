"""What `thresher init` writes for somebody who follows searches: a search that needs no key, and the rules
that make an offer a signal.
"""

from collections.abc import Mapping

from thresher import ProjectDraft, ProjectQuestion, Template
from thresher.core.template import parts_of, written

SECTION = """\
# Searches that are repeated, each asked only for the days that it has not seen. `thresher queries clients` lists where one can search;
# some places need keys. Their terms say how often they may be asked.
queries:
  searches:
    {name}:
      client: {client}
      text: {text}
"""
# A place to search of one's own is described in a file.
CLIENT = """# The practice web's search, described as you would describe an API of your own.
name: practice
title: The practice web's search
request:
  url: https://search.practice.example/v1/search/{country}/{page}
  query: {app_key: demo, what: "{text}", max_days_old: "{days}", sort_by: date, results_per_page: "{size}"}
parameters:
  country: {help: "Country of the search, such as us.", default: us, pattern: "[a-z]{2}"}
paging: {kind: page, first: 1, size: 50, max_pages: 20}
window: {kind: since}
newest_first: true
answer:
  rows: results
  total: count
  fields:
    id: id
    title: title
    url: redirect_url
    company: company.display_name
    location: location.display_name
    posted: created
    low: salary_min
    high: salary_max
    description: description
"""
RULES = """# What makes an offer a signal, and how strong. Every point of a score names the words that brought it.
purpose: Companies that look for people like these
scale: {{max: 10, strong: 6}}
fields: {{title: 1.5, description: 1}}   # a word in a title counts more
tiers:
  category: {{high: 4, medium: 2.5, low: 1}}
  phrase: {{high: 2, medium: 1.2, low: 0.6}}
buckets: {{wanted: 8}}                   # at most so many points from these
categories:
  - {{id: wanted, title: What you look for, bucket: wanted, tier: high, keywords: {words}}}
"""


def write(said: Mapping[str, str], practice: bool) -> ProjectDraft:
    """The search in the project file, and the rules beside it."""
    text = said["text"]
    client = "practice" if practice else "remotive"
    files = {"signals.yaml": RULES.format(words=written(parts_of(said["words"]) or [text]))}
    return ProjectDraft(
        section=SECTION.format(name=written(text), client=client, text=written(text)),
        settings={"queries.pause": 21_600},
        files=files | ({"clients/practice.yaml": CLIENT} if practice else {}),
        steps=[
            ("run", "ask for the last month"),
            ("queries list", "see how far each search has come"),
            ("signals list", "see which companies look for it"),
            ("up", "go on for ever, and see it in the browser"),
        ],
    )


TEMPLATE = Template(
    "Follow searches",
    (
        ProjectQuestion("text", "What you search for", "python", "payroll"),
        ProjectQuestion(
            "words", "Words that make an offer interesting (none: those of the search)", "", "payroll"
        ),
    ),
    write,
)
