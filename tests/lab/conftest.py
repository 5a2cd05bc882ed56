"""A browser and a lab for the tests of the page; they are skipped where there is no browser."""

import pages
import pytest

# By module, not by session: while Playwright runs, other tests in the same process could run no event loop.


@pytest.fixture(scope="module")
def browser():
    why = pages.missing()
    if why is not None:
        pytest.skip(f"the page is tested in a real browser: {why}")
    with pages.browser() as found:
        yield found


@pytest.fixture(scope="module")
def address(browser):
    with pages.server() as (_, found):
        yield found


@pytest.fixture
def page(browser, address):
    found = pages.opened(browser, address)
    yield found
    faults = found.faults
    found.context.close()
    assert faults == []
