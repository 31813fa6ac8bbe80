"""Render figures to files. Only commands and workers import this: the renderer needs 84 MB."""

import json
from typing import Literal, get_args

from .figures import Figure

Format = Literal["vega", "svg", "pdf", "png"]
FORMATS: tuple[Format, ...] = get_args(Format)
ENDINGS: dict[Format, str] = {"vega": "vl.json", "svg": "svg", "pdf": "pdf", "png": "png"}
INSTALL = "pip install -r requirements/figures.txt"
#: Pinned like the library, so that a figure always renders to the same bytes.
VEGA_LITE = "6.4"
#: PNG pixels per pixel of the figure: 384 pixels per inch.
PNG_SCALE = 4.0


class RendererMissing(Exception):
    """vl-convert-python is not installed."""

    def __init__(self) -> None:
        super().__init__(f"SVG, PDF and PNG need vl-convert-python: {INSTALL}. The format vega works without it.")


def render(figure: Figure, format: Format) -> bytes:
    """Render a figure to a file, offline and deterministically. Raise `RendererMissing`."""
    if format == "vega":
        return (json.dumps(figure.spec, ensure_ascii=False, indent=1) + "\n").encode()
    try:
        import vl_convert
    except ImportError:
        raise RendererMissing from None
    # The specifications contain no URL; the empty list makes sure that none is loaded.
    if format == "svg":
        return vl_convert.vegalite_to_svg(figure.spec, VEGA_LITE, allowed_base_urls=[]).encode()
    if format == "pdf":
        return vl_convert.vegalite_to_pdf(figure.spec, VEGA_LITE, allowed_base_urls=[])
    return vl_convert.vegalite_to_png(figure.spec, VEGA_LITE, scale=PNG_SCALE, allowed_base_urls=[])
