"""Boards that a script builds: the page is empty, and a browser fills it from an address of the same host."""

import json
from html import escape

from thresher.practice.web.prose import document

SCRIPT = """
fetch(board.from, {method: board.method, body: board.body, headers: {"Content-Type": "application/json", "Accept": "application/json"}})
  .then(answer => answer.json()).then(found => {
    const list = document.createElement("ul");
    for (const row of found[board.rows]) {
      const item = document.createElement("li"), link = document.createElement("a");
      link.href = board.prefix + row[board.key];
      link.textContent = row[board.title];
      item.append(link);
      list.append(item);
    }
    document.getElementById("root").replaceChildren(list);
  });
"""


def shell(
    page_title: str, source: str, *, rows: str, title: str, key: str, prefix: str, post: object = None
) -> str:
    """An empty page with a script that lists the rows it gets from `source`, each linked to `prefix` and its
    `key`.
    """
    board = {
        "from": source,
        "method": "GET" if post is None else "POST",
        "body": None if post is None else json.dumps(post),
        "rows": rows,
        "title": title,
        "key": key,
        "prefix": prefix,
    }
    said = json.dumps(board).replace("<", "\\u003c")
    body = (
        f'<div id="root" data-board="{escape(source)}"></div>\n<noscript>You need to enable JavaScript to run this app.</noscript>\n'
        f"<script>const board = {said};{SCRIPT}</script>"
    )
    return document(page_title, body)
