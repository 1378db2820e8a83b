"""Answers of the prices app: in camelCase, but for what a person named."""

from functools import partial

from thresher.web import camel

AS_WRITTEN = frozenset(("attributes", "options", "left_out", "filed"))

camel_answer = partial(camel.camel_answer, as_written=AS_WRITTEN)
