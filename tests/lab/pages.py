"""A lab in a real browser: its server, its page, and what tests do on it."""

import json
import os
import shutil
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

# Debian calls it chromium; as root, it runs without its sandbox. It must not call home from a closed network.
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
QUIET = ["--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
QUIET += ["--disable-component-update", "--disable-sync"]


def missing():
    """Why there is no browser to test with; None if there is one."""
    try:
        import playwright  # noqa: F401
    except ImportError:
        return "playwright is not installed: pip install playwright"
    if not any(map(shutil.which, NAMES)):
        return f"no browser was found ({', '.join(NAMES)}): apt-get install chromium"
    return None


@contextmanager
def browser():
    """Chromium, driven by Playwright."""
    from playwright.sync_api import sync_playwright

    path = next(filter(None, map(shutil.which, NAMES)))
    root = hasattr(os, "geteuid") and os.geteuid() == 0
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=path, args=[*QUIET, *(["--no-sandbox"] if root else [])])
        try:
            yield launched
        finally:
            launched.close()


@contextmanager
def server(*arguments):
    """A lab, and its address."""
    command = [sys.executable, "-m", "perceptrons", "lab", "--no-browser", *arguments]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        yield process, process.stdout.readline().strip()
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def opened(browser, address, **settings):
    """The page at an address, which has shown its first scene. It collects its faults and its requests."""
    settings.setdefault("viewport", {"width": 1400, "height": 1000})
    # The page forbids evaluation of text, which is how Playwright looks into it.
    page = browser.new_context(bypass_csp=True, accept_downloads=True, **settings).new_page()
    page.faults, page.asked = [], []
    page.on("pageerror", lambda error: page.faults.append(error.stack))
    page.on("console", lambda message: message.type == "error" and page.faults.append(message.text))
    page.on("request", lambda request: page.asked.append(request.url))
    page.on("websocket", lambda socket: page.asked.append(socket.url))
    page.goto(address)
    page.wait_for_function("document.body.dataset.answers >= 1", timeout=120_000)
    settled(page)
    return page


def settled(page):
    """Wait until the page shows what it asked for."""
    page.wait_for_function(
        "window.lab && !lab.asking.busy && lab.whole && !lab.lessons.staging"
        " && lab.looking.every((each) => !each.busy)",
        timeout=60_000,
    )
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def staged(page, scene):
    """Show a scene; choices have defaults."""
    page.evaluate(
        """(scene) => {
          const models = (scene.models ?? [{}]).map((choice) => ({ ...lab.CHOICE, ...choice }));
          lab.scene = { names: ["x1", "x2"], held_out: 0, ...scene, models };
          lab.active = 0;
          lab.changed({ fits: true });
        }""",
        scene,
    )
    settled(page)


def load(page, name):
    """Choose a named set."""
    before = page.evaluate("lab.answers")
    page.select_option("#sets", name)
    page.wait_for_function(f"lab.answers > {before}")
    settled(page)


def told(page, id):
    """The exact value of a fact on the page; None if it is not shown."""
    found = page.query_selector(f"#{id}")
    return None if found is None else json.loads(found.get_attribute("data-value"))


def spot(page, point, plane="A"):
    """Where a point of the plane is on the screen."""
    box = page.locator(f"#svg-{plane}").bounding_box()
    number = "AB".index(plane)
    x, y = page.evaluate(f"([x, y]) => [lab.planes[{number}].view.x(x), lab.planes[{number}].view.y(y)]", list(point))
    return box["x"] + x, box["y"] + y


def axe():
    """The rules of axe-core, if npm has installed it in the folder that AXE names; None otherwise."""
    folder = Path(os.environ.get("AXE", Path(sys.prefix) / "axe"))
    path = folder / "node_modules" / "axe-core" / "axe.min.js"
    return path.read_text() if path.exists() else None


def violations(page, rules):
    """What axe-core finds on the page as it is."""
    page.evaluate(rules)
    found = page.evaluate("axe.run(document, { resultTypes: ['violations'] })")["violations"]
    return [(each["id"], [node["target"] for node in each["nodes"]]) for each in found]
