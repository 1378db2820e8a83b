"""`thresher prices chart`: the prices of an item and its bands over time, as a file."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from thresher.apps.prices.charts.png import png
from thresher.apps.prices.charts.svg import svg
from thresher.apps.prices.service.charts import item_chart
from thresher.cli.call import call_of
from thresher.cli.show import say
from thresher.core.errors import UsageError

FORMATS = (".svg", ".png")


@dataclass(frozen=True, slots=True)
class ChartWritten:
    """A chart that was written: its file, and what it shows."""

    file: str
    says: str


def chart(
    ctx: typer.Context,
    item: Annotated[str, typer.Argument(metavar="ITEM", help="Name or id of the item.")],
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="File to write: NAME.svg or NAME.png.")
    ],
) -> None:
    """Draw the prices of an item and what it was worth over time. PNG needs the extra charts, SVG needs
    none.
    """
    call, file = call_of(ctx), Path(output)
    if file.suffix.lower() not in FORMATS:
        raise UsageError(f"{output[:200]!r} is no chart; write a file name that ends in .svg or .png")
    with call.store() as store:
        drawing = item_chart(store, item)
    if drawing is None:
        raise UsageError(
            f"there is nothing to draw of {item[:80]!r} yet: thresher prices show says what it waits for"
        )
    written = png(drawing) if file.suffix.lower() == ".png" else svg(drawing, standalone=True).encode("utf-8")
    try:
        file.write_bytes(written)
    except OSError as problem:
        raise UsageError(f"cannot write {output}: {problem.strerror}") from None
    say(call, ChartWritten(str(file), drawing.says), f"{file}: {drawing.says}.")
