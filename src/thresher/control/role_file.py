"""A file of roles: CSV with the columns name, aliases (with ; between them) and priority. The first slip
refuses the file.
"""

from thresher.control.candidate import SEPARATOR
from thresher.control.roles import RoleWish, wish
from thresher.control.rows import lines_of, read_rows
from thresher.core.errors import UsageError

COLUMNS = ("name", "aliases", "priority")


def read_roles(text: str, name: str) -> list[RoleWish]:
    """The roles of a file, each once."""
    found = []
    for line, cells in read_rows(lines_of(text, name), name, COLUMNS, {"alias": "aliases", "role": "name"}):
        try:
            if isinstance(cells, str):
                raise UsageError(cells)
            priority = cells.get("priority", "").strip().casefold()
            found.append(wish(cells["name"], cells.get("aliases", "").split(SEPARATOR), priority or None))
        except UsageError as problem:
            raise UsageError(f"{name}:{line}: {problem}. Nothing was added.") from None
    return found
