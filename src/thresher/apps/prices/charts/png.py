"""A drawing as PNG, for mails and documents that do not show SVG."""

from io import BytesIO
from typing import TYPE_CHECKING, assert_never

from thresher.apps.prices.charts.drawing import Area, Drawing, Line, Mark, Point, Shape, Words
from thresher.core.errors import ConfigError
from thresher.core.limits import without_controls

if TYPE_CHECKING:
    from PIL.ImageDraw import ImageDraw
    from PIL.ImageFont import FreeTypeFont, ImageFont

SCALE = 2  # pixels for each unit of the drawing: screens show two
PAPER = (255, 255, 255)
_COLOURS = {"ink": (31, 95, 76), "soft": (92, 99, 91)}
_ANCHORS = {"start": "ls", "middle": "ms", "end": "rs"}
_FONT_SIZE = 12

Colour = tuple[int, int, int]


def png(drawing: Drawing) -> bytes:
    """Write a drawing. Raises ConfigError where the library for it is not installed."""
    try:
        from PIL import Image, ImageDraw, ImageFont  # noqa: PLC0415  an extra, for one format
    except ImportError:
        raise ConfigError(
            "PNG files need an extra: pip install 'thresher[charts]'; SVG needs none (-o chart.svg)"
        ) from None
    image = Image.new("RGB", (drawing.width * SCALE, drawing.height * SCALE), PAPER)
    pen, font = ImageDraw.Draw(image), ImageFont.load_default(_FONT_SIZE * SCALE)
    for shape in drawing.shapes:
        _draw(pen, font, shape)
    written = BytesIO()
    image.save(written, "PNG", optimize=True)
    return written.getvalue()


def _draw(pen: "ImageDraw", font: "FreeTypeFont | ImageFont", shape: Shape) -> None:
    match shape:
        case Line():
            colour = _faded(_COLOURS[shape.role], shape.opacity)
            pen.line(_points(shape.points), fill=colour, width=max(1, round(shape.width * SCALE)))
        case Area():
            pen.polygon(_points(shape.points), fill=_faded(_COLOURS["ink"], shape.opacity))
        case Mark():
            _mark(pen, shape)
        case Words():
            place = (shape.at[0] * SCALE, shape.at[1] * SCALE)
            text = without_controls(shape.text)
            pen.text(place, text, fill=_COLOURS[shape.role], font=font, anchor=_ANCHORS[shape.anchor])
        case _:
            assert_never(shape)


def _mark(pen: "ImageDraw", mark: Mark) -> None:
    x, y, r = mark.at[0] * SCALE, mark.at[1] * SCALE, mark.radius * SCALE
    colour, width = _faded(_COLOURS["ink"], mark.opacity), SCALE + 1
    box = (x - r, y - r, x + r, y + r)
    match mark.shape:
        case "dot":
            pen.ellipse(box, fill=colour)
        case "ring":
            pen.ellipse(box, outline=colour, width=width)
        case "triangle":
            pen.polygon(((x, y - r), (x + r, y + r), (x - r, y + r)), outline=colour, width=width)
        case "cross":
            pen.line((x - r, y - r, x + r, y + r), fill=colour, width=width)
            pen.line((x - r, y + r, x + r, y - r), fill=colour, width=width)
        case _:
            assert_never(mark.shape)


def _faded(colour: Colour, opacity: float) -> Colour:
    """A colour as it looks on the paper: nothing is drawn through."""
    red, green, blue = (
        round(paper + (ink - paper) * opacity) for ink, paper in zip(colour, PAPER, strict=True)
    )
    return red, green, blue


def _points(points: tuple[Point, ...]) -> list[tuple[float, float]]:
    return [(x * SCALE, y * SCALE) for x, y in points]
