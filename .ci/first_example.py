"""Run the first example of a page, and say so if it prints something else than the page shows."""

import doctest
import re
import sys
from pathlib import Path

import perceptrons

page = Path(sys.argv[1])
example = re.search(r"^```python\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL).group(1)
test = doctest.DocTestParser().get_doctest(example, {}, "the first example", str(page), 0)
found = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS).run(test)
print(f"{perceptrons.__file__}: {found.attempted} lines, {found.failed} wrong")
sys.exit(found.failed or not found.attempted)
