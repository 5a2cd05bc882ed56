"""Formulas as MathML, which browsers draw themselves: no JavaScript, no network, and screen readers read it."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx

# A minus after a bracket, a comma or a relation belongs to the number that follows: no space between them.
BEFORE = "|".join(f"&#x0{code};" for code in ("0028", "005B", "002C", "003D", "003C", "003E", "2264", "2265", "2190"))
SIGN = re.compile(rf"(<mo[^>]*>(?:{BEFORE})</mo>(?:<mspace[^>]*/>)?)<mo>&#x02212;</mo>")


def made(text: str, display: str = "inline") -> str:
    """Convert LaTeX to MathML."""
    found = SIGN.sub(r'\1<mo form="prefix">&#x02212;</mo>', convert(text, display=display))
    return found.replace("<mo>&#x02016;</mo>", '<mo stretchy="false">&#x02016;</mo>')  # ‖ as high as letters


def inline(writer: Any, node: nodes.Element) -> None:
    """Write a formula within a line."""
    writer.body.append(made(node.astext()))
    raise nodes.SkipNode


def block(writer: Any, node: nodes.Element) -> None:
    """Write a formula on a line of its own."""
    text = node.astext()
    if "\\\\" in text and "\\begin" not in text:
        text = rf"\begin{{aligned}}{text}\end{{aligned}}"
    writer.body.append(f'<div class="formula">{made(text, "block")}</div>\n')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the renderer under the name that conf.py gives."""
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
