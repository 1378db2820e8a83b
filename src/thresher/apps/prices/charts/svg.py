"""A drawing as SVG: inside a page in the page's own colours, or as a file of its own."""

from typing import assert_never
from xml.sax.saxutils import escape, quoteattr

from thresher.apps.prices.charts.drawing import Area, Drawing, Line, Mark, Point, Shape, Words
from thresher.core.limits import without_controls

_STYLE = """<style>
svg { color: #1f5f4c; background: #ffffff; --soft: #5c635b; }
@media (prefers-color-scheme: dark) { svg { color: #8ed1b6; background: #141715; --soft: #a4aba2; } }
</style>"""
_COLOURS = {"ink": "currentColor", "soft": "var(--soft)"}


def svg(drawing: Drawing, *, standalone: bool = False) -> str:
    """Write a drawing. A standalone file brings its own colours, for light and for dark."""
    attributes = ' xmlns="http://www.w3.org/2000/svg"' if standalone else ' class="chart"'
    size = f'viewBox="0 0 {drawing.width} {drawing.height}" width="{drawing.width}" height="{drawing.height}"'
    lines = (
        f'<svg{attributes} {size} role="img" font-family="system-ui, sans-serif" font-size="12">',
        f"<title>{_text(drawing.says)}</title>",
        *((_STYLE,) if standalone else ()),
        *map(_shape, drawing.shapes),
        "</svg>",
    )
    return "\n".join(lines) + "\n"


def _shape(shape: Shape) -> str:
    match shape:
        case Line():
            return (
                f'<polyline points="{_points(shape.points)}" fill="none" stroke="{_COLOURS[shape.role]}" '
                f'stroke-width="{shape.width}" stroke-opacity="{shape.opacity}"></polyline>'
            )
        case Area():
            said = f"<title>{_text(shape.says)}</title>" if shape.says else ""
            return (
                f'<polygon points="{_points(shape.points)}" fill="currentColor" fill-opacity="{shape.opacity}">'
                f"{said}</polygon>"
            )
        case Mark():
            return _mark(shape)
        case Words():
            x, y = shape.at
            return (
                f'<text x="{x}" y="{y}" text-anchor={quoteattr(shape.anchor)} fill="{_COLOURS[shape.role]}">'
                f"{_text(shape.text)}</text>"
            )
        case _:
            assert_never(shape)


def _mark(mark: Mark) -> str:
    (x, y), r = mark.at, mark.radius
    said = f"<title>{_text(mark.says)}</title>"
    stroke = f'fill="none" stroke="currentColor" stroke-width="1.5" opacity="{mark.opacity}"'
    match mark.shape:
        case "dot":
            return f'<circle cx="{x}" cy="{y}" r="{r}" fill="currentColor" opacity="{mark.opacity}">{said}</circle>'
        case "ring":
            return f'<circle cx="{x}" cy="{y}" r="{r}" {stroke}>{said}</circle>'
        case "triangle":
            corners = ((x, y - r), (x + r, y + r), (x - r, y + r))
            return f'<polygon points="{_points(corners)}" {stroke}>{said}</polygon>'
        case "cross":
            return f'<path d="M{x - r} {y - r}L{x + r} {y + r}M{x - r} {y + r}L{x + r} {y - r}" {stroke}>{said}</path>'
        case _:
            assert_never(mark.shape)


def _points(points: tuple[Point, ...]) -> str:
    return " ".join(f"{x},{y}" for x, y in points)


def _text(text: str) -> str:
    return escape(without_controls(text))
