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
UNKNOWN = re.compile(r">(\\[^<]*|&)<")  # LaTeX that the converter does not know
ALIGNED = re.compile(r"\\begin\{aligned\}(.*)\\end\{aligned\}", re.DOTALL)
WORD = re.compile(r"\\operatorname\*?\{([^}]*)\}|\\(arg)(?![a-z])")


def made(text: str, display: str = "inline") -> str:
    """Convert LaTeX to MathML. An unknown command is an error, as it would be in LaTeX."""
    text = WORD.sub(lambda found: r"\text{" + (found[1] or found[2]).replace(r"\,", " ") + "}", text)
    found = SIGN.sub(r'\1<mo form="prefix">&#x02212;</mo>', convert(text, display=display))
    if unknown := UNKNOWN.search(found):
        raise ValueError(f"cannot convert {unknown[1]} in the formula {text}")
    return found.replace("<mo>&#x02016;</mo>", '<mo stretchy="false">&#x02016;</mo>')  # ‖ as high as letters


def lines(text: str) -> str:
    """Convert lines that are aligned at & to a table, which the converter does not make."""
    rows = []
    for line in re.split(r"\\\\(?:\[[^]]*\])?", text):
        cells = [re.sub(r"</?math[^>]*>", "", made(cell)) for cell in line.split("&") if cell.strip()]
        sides = ("right", "left") * len(cells) if len(cells) > 1 else ("left",)
        made_cells = (f'<mtd style="text-align: {side}">{cell}</mtd>' for side, cell in zip(sides, cells, strict=False))
        rows.append(f"<mtr>{''.join(made_cells)}</mtr>")
    return f'<math display="block"><mtable displaystyle="true">{"".join(rows)}</mtable></math>'


def inline(writer: Any, node: nodes.Element) -> None:
    """Write a formula within a line."""
    writer.body.append(made(node.astext()))
    raise nodes.SkipNode


def block(writer: Any, node: nodes.Element) -> None:
    """Write a formula on a line of its own. Wide ones scroll, also by the keyboard."""
    text = node.astext()
    aligned = ALIGNED.search(text)
    found = lines(aligned[1]) if aligned else made(text, "block")
    writer.body.append(f'<div class="formula" tabindex="0">{found}</div>\n')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the renderer under the name that conf.py gives."""
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
