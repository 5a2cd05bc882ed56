"""Makes the picture of the lab.   python docs/pictures/lab.py   (needs Chromium and Playwright)"""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1] / "tests" / "lab"))

import pages  # noqa: E402

with pages.browser() as browser, pages.server() as (_, address):
    page = pages.opened(browser, address, viewport={"width": 1440, "height": 1010}, color_scheme="light")
    page.evaluate("lab.goTo(8, true)")
    page.screenshot(path=HERE / "lab.png")
