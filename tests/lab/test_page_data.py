"""What goes into the page and what comes out, in a real browser: tables, files, addresses, programs, pictures, tabs."""

import csv
import io
import json
import signal
import subprocess
import sys

import numpy as np
import pages
import pytest
from pages import load, opened, server, settled, spot, staged, told

from perceptrons import Perceptron
from perceptrons.theory import trace


def paste(page, text):
    page.click("#open-data")
    page.fill("#paste", text)
    page.click("#paste-read")
    page.wait_for_function(
        "() => !document.getElementById('data-found').hidden || document.getElementById('data-error').textContent"
    )


def test_pasted_tables_become_points(page):
    paste(page, "width;length;kind\n1,5;2,5;b\n0,5;1;a\n2;3,25;b\n")
    assert "3 rows, 2 columns of numbers" in page.inner_text("#data-title")
    page.click("#data-use")
    settled(page)
    scene = page.evaluate("lab.scene")
    assert scene["rows"] == [[1.5, 2.5], [0.5, 1], [2, 3.25]]
    assert scene["classes"] == ["a", "b"] and scene["labels"] == [1, 0, 1] and scene["names"] == ["width", "length"]
    model = Perceptron(readout="last", shuffle=False, max_iter=100).fit(
        np.array(scene["rows"]), np.array(["b", "a", "b"])
    )
    assert told(page, "coef-A") == model.coef_.tolist()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "empty"),
        ("1,2\n3,4\n", "class"),
        ("1,2,a\n3,x,b\n5,6\n", "pasted text:3: the row has 2 columns, expected 3"),
        ("1,2,a\n3,4,a\n", "column '2' has 1 different value"),
        ("a,b\nc,d\n", "no column has 2 to 6 different values"),
    ],
)
def test_bad_tables_are_refused_with_a_sentence_and_change_nothing(page, text, words):
    before = page.evaluate("JSON.stringify(lab.scene)")
    paste(page, text)
    error = page.inner_text("#data-error")
    assert error and words in error and "Traceback" not in error and not page.is_visible("#data-found")
    page.click("#data-close")
    assert page.evaluate("JSON.stringify(lab.scene)") == before


def test_more_than_two_columns_are_drawn_in_the_plane_of_w(page, tmp_path):
    generator = np.random.default_rng(0)
    X, y = generator.normal(size=(40, 4)), np.repeat(["no", "yes"], 20)
    X[y == "yes"] += 1.5
    lines = "\n".join(f"{','.join(map(repr, row.tolist()))},{label}" for row, label in zip(X, y, strict=True))
    path = tmp_path / "four.csv"
    path.write_text(f"a,b,c,d,answer\n{lines}\n")
    page.click("#open-data")
    page.set_input_files("#file", str(path))
    page.wait_for_selector("#data-found:not([hidden])")
    page.check("#data-all")
    page.click("#data-use")
    settled(page)
    model = Perceptron(readout="last", shuffle=False, max_iter=100).fit(X, y)
    assert told(page, "coef-A") == model.coef_.tolist()
    assert "distance from the boundary" in page.inner_text("#plane-A .caption-axes")
    wrong = np.count_nonzero(model.predict(X) != y)
    assert page.locator("#svg-A .point.is-wrong").count() == wrong
    page.mouse.click(*spot(page, (0, 0)))
    assert "more than two features" in page.inner_text("#message")


def test_the_file_of_the_command_is_offered(browser, tmp_path):
    path = tmp_path / "small.csv"
    path.write_text("u,v,label\n0,0,0\n1,1,1\n0,1,0\n")
    with server(str(path)) as (_, address):
        page = browser.new_context(bypass_csp=True).new_page()
        page.goto(address)
        page.wait_for_selector("#data-found:not([hidden])")
        page.click("#data-use")
        settled(page)
        assert page.evaluate("lab.scene.rows") == [[0, 0], [1, 1], [0, 1]]
        page.context.close()


def test_the_address_holds_the_whole_state(page, browser):
    load(page, "recency")
    page.click("#compare")
    settled(page)
    page.select_option("#rule", "pa1")
    settled(page)
    page.fill("#param-C", "0.25")
    page.press("#param-C", "Enter")
    settled(page)
    page.evaluate("lab.goTo(5)")
    page.evaluate("lab.keepAddress()")
    page.wait_for_function("location.hash.startsWith('#s=')")
    other = opened(browser, page.url)
    assert other.evaluate("JSON.stringify(lab.scene)") == page.evaluate("JSON.stringify(lab.scene)")
    assert other.evaluate("[lab.at, lab.active]") == [5, 1]
    assert told(other, "coef-B") == told(page, "coef-B")
    other.context.close()
    fragment = page.url.partition("#")[2]
    with server(f"http://127.0.0.1:1/?token=old#{fragment}") as (_, address):
        assert address.partition("#")[2] == fragment
    page.goto(page.url.partition("#")[0] + "#s=damaged")
    page.wait_for_function("document.getElementById('message-text').textContent.includes('damaged')")


SCENES = [
    ("and", {}),
    ("three", {"rule": "pa1", "params": {"C": 0.3}, "order": "shuffled", "random_state": 4}),
    ("noise", {"readout": "averaged", "order": "sorted", "max_iter": 7, "tol": None}),
    ("thin", {"fit_intercept": False, "rule": "arow", "init": "random"}),
    ("moons", {"estimator": "KernelPerceptron", "kernel": "poly", "degree": 3, "order": "shuffled"}),
    ("noise", {"estimator": "KernelPerceptron", "budget": 6, "policy": "random", "max_iter": 4}),
]


@pytest.mark.parametrize(("name", "choice"), SCENES)
def test_the_copied_program_makes_the_fit_that_the_page_shows(page, tmp_path, name, choice):
    load(page, name)
    scene = page.evaluate("lab.scene")
    staged(page, {**scene, "models": [choice], "held_out": 0.25 if name == "noise" else 0})
    page.click("#copy-python")
    page.wait_for_selector("#program[open]")
    text = page.input_value("#program-text")
    facts = ["model.n_iter_", "model.n_mistakes_", "model.n_updates_", "model.converged_", "model.intercept_.tolist()"]
    facts += ["model.coef_.tolist()"] if "estimator" not in choice else []
    report = f"\nimport json; print(json.dumps([{', '.join(facts)}]))"
    path = tmp_path / "program.py"
    path.write_text("import warnings; warnings.simplefilter('ignore')\n" + text + report)
    out = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, check=True).stdout
    found = json.loads(out.splitlines()[-1])
    assert found[:4] == [told(page, f"{what}-A") for what in ("passes", "mistakes", "updates", "converged")]
    assert found[4] == page.evaluate("lab.run.intercept")
    if len(found) > 5:
        assert found[5] == told(page, "coef-A")


def test_the_table_and_pictures_can_be_saved(page):
    load(page, "thin")
    with page.expect_download() as download:
        page.click("#table-csv")
    rows = list(csv.DictReader(io.StringIO(pages.Path(download.value.path()).read_text())))
    scene = page.evaluate("lab.scene")
    y = np.array([-1, 1])[scene["labels"]]
    run = trace(Perceptron(readout="last", shuffle=False, max_iter=100), np.array(scene["rows"]), y)
    assert len(rows) == len(run)
    assert [
        [float(row[f"w[{name}]"]) for name in scene["names"]] + [float(row["b"])] for row in rows
    ] == run.weights.tolist()
    for panel in ("svg-A", "chart-cosine", "step"):
        for kind, begins in (("svg", b"<svg"), ("png", b"\x89PNG")):
            with page.expect_download() as download:
                page.click(f'[data-save="{panel}"][data-kind="{kind}"]')
            content = pages.Path(download.value.path()).read_bytes()
            assert content.startswith(begins) and len(content) > 1000


def test_a_lost_connection_comes_back_with_the_scene(browser):
    with server() as (process, address):
        page = opened(browser, address)
        page.mouse.click(*spot(page, (0.5, 0.5)))
        settled(page)
        before = page.evaluate("JSON.stringify(lab.scene)")
        page.evaluate("lab.link.socket.close()")
        page.wait_for_function("lab.link.open && lab.link.socket.readyState === 1 && lab.link.tries === 0")
        page.mouse.click(*spot(page, (-0.5, 0.7)))
        settled(page)
        assert page.evaluate("lab.scene.rows.length") == len(json.loads(before)["rows"]) + 1
        process.send_signal(signal.SIGKILL)
        process.wait()
        page.wait_for_function("document.getElementById('status').textContent.includes('does not answer')")
        page.mouse.click(*spot(page, (0.2, -0.5)))  # the page goes on: the point is drawn, and shown when it is back
        assert page.evaluate("lab.scene.rows.length") == len(json.loads(before)["rows"]) + 2
        page.context.close()


def test_two_tabs_do_not_disturb_each_other(browser, address):
    one, two = opened(browser, address), opened(browser, address)
    load(one, "xor")
    load(two, "and")
    one.select_option("#estimator", "KernelPerceptron")
    settled(one)
    assert len(one.evaluate("lab.scene.rows")) == len(two.evaluate("lab.scene.rows")) == 4
    assert one.get_attribute("#verdict-bias", "data-separable") == "false"
    assert two.get_attribute("#verdict-bias", "data-separable") == "true"
    assert one.evaluate("lab.planes[0].field.alpha.length") == 4
    one.context.close()
    two.mouse.click(*spot(two, (0.5, 0.5)))
    settled(two)
    assert two.faults == []
    two.context.close()


def test_the_page_asks_nobody_else_and_is_light(page, address):
    from perceptrons.lab.web import app

    host = address.split("/")[2]
    load(page, "moons")
    assert page.asked and all(url.split("/")[2] == host or url.startswith("data:") for url in page.asked)
    folder = pages.Path(app.__file__).parents[1] / "page"
    assert sum(path.stat().st_size for path in folder.rglob("*")) <= 300_000
