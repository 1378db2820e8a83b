"""`${NAME}` and `${NAME:-default}`: how the project file names what stands in the environment: what is
secret, or differs by machine.
"""

import os
import re

VARIABLE = re.compile(r"\$\{(\w{1,200})(?::-([^}]*))?\}")


def looked_up(match: re.Match[str]) -> str | None:
    """The value of a variable, else its default. Set but empty counts as not set, as in a shell."""
    name, default = match.groups()
    return os.environ.get(name) or default
