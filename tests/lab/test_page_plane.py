"""The plane in a real browser: drawing, dragging, deleting, undoing, time, and what the page tells."""

import numpy as np
import pytest
from pages import load, settled, spot, staged, told

from perceptrons import Perceptron
from perceptrons.theory import separability, trace

SIGNS = np.array([-1, 1])


def points(page):
    scene = page.evaluate("lab.scene")
    return np.array(scene["rows"]), SIGNS[scene["labels"]] if scene["rows"] else np.array([])


def fitted(page):
    X, y = points(page)
    return Perceptron(readout="last", shuffle=False, max_iter=100).fit(X, y)


def agrees(page):
    """The page tells what the library computes on the points that it shows."""
    X, y = points(page)
    model, verdict = fitted(page), separability(X, y)
    assert told(page, "coef-A") == model.coef_.tolist()
    assert told(page, "intercept-A") == model.intercept_.tolist()
    assert told(page, "updates-A") == model.n_updates_
    assert page.get_attribute("#verdict-bias", "data-separable") == str(verdict.separable).lower()


def test_points_are_drawn_dragged_and_deleted(page):
    page.click("#clear")
    settled(page)
    assert "Add points" in page.inner_text("#position")
    for point in ((-1, -1), (-1.5, 0.5)):
        page.mouse.click(*spot(page, point))
    page.click("#classes button >> nth=1")
    for point in ((1, 1), (1.5, 0)):
        page.mouse.click(*spot(page, point))
    settled(page)
    X, y = points(page)
    assert np.allclose(X, [[-1, -1], [-1.5, 0.5], [1, 1], [1.5, 0]], atol=0.02) and y.tolist() == [-1, -1, 1, 1]
    agrees(page)
    page.mouse.move(*spot(page, X[3]))
    page.mouse.down()
    page.mouse.move(*spot(page, (0, 0.4)), steps=8)
    page.mouse.move(*spot(page, (-1.2, 0.0)), steps=8)
    page.mouse.up()
    settled(page)
    X, _ = points(page)
    assert np.allclose(X[3], [-1.2, 0.0], atol=0.02)
    agrees(page)
    page.mouse.click(*spot(page, X[0]), button="right")
    settled(page)
    assert len(points(page)[0]) == 3
    page.click("#deleting")
    page.mouse.click(*spot(page, points(page)[0][0]))
    settled(page)
    assert len(points(page)[0]) == 2


def test_undo_and_redo_go_through_all_changes(page):
    scenes = [page.evaluate("JSON.stringify(lab.scene)")]
    page.mouse.click(*spot(page, (0.3, 0.2)))
    settled(page)
    scenes.append(page.evaluate("JSON.stringify(lab.scene)"))
    page.mouse.move(*spot(page, page.evaluate("lab.scene.rows[0]")))
    page.mouse.down()
    page.mouse.move(*spot(page, (1, -1)), steps=6)
    page.mouse.up()
    settled(page)
    scenes.append(page.evaluate("JSON.stringify(lab.scene)"))
    page.click("#fit_intercept")
    settled(page)
    scenes.append(page.evaluate("JSON.stringify(lab.scene)"))
    for wanted in scenes[-2::-1]:
        page.keyboard.press("Control+z")
        assert page.evaluate("JSON.stringify(lab.scene)") == wanted
    for wanted in scenes[1:]:
        page.click("#redo")
        assert page.evaluate("JSON.stringify(lab.scene)") == wanted
    settled(page)


def test_the_keyboard_can_do_all_that_the_mouse_can(page):
    page.click("#clear")
    settled(page)
    page.focus("#svg-A")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    page.keyboard.press("2")
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    settled(page)
    X, y = points(page)
    assert y.tolist() == [-1, 1] and X[1][0] > X[0][0]
    page.keyboard.press("N")
    page.keyboard.press("ArrowUp")
    settled(page)
    assert points(page)[0][0][1] > X[0][1]
    assert "Point 0 is at" in page.inner_text("#live")
    agrees(page)
    page.keyboard.press("2")
    settled(page)
    assert points(page)[1].tolist() == [1, 1]
    page.keyboard.press("Delete")
    settled(page)
    assert len(points(page)[0]) == 1


def test_time_goes_forward_and_back_over_what_happened(page):
    load(page, "thin")
    X, y = points(page)
    run = trace(Perceptron(readout="last", shuffle=False, max_iter=100), X, y)
    assert int(page.get_attribute("#scrub", "max")) == len(run) > 10
    page.click("#to-start")
    assert page.input_value("#scrub") == "0"
    for k in range(1, 4):
        page.click("#step-on")
        assert page.evaluate("[...lab.run.weights(lab.at)[0]]") == run.weights[k - 1].tolist()
        assert f"Update {k} of {len(run)}" in page.inner_text("#position")
        assert page.inner_text("tr.current th") == str(k)
    page.click("#back")
    assert page.evaluate("lab.at") == 2
    page.click("#next-mistake")
    assert page.evaluate("lab.at") == 3  # every update of the plain rule is a mistake
    page.evaluate("(k) => { scrub.value = k; scrub.dispatchEvent(new Event('input')); }", 7)
    assert page.evaluate("[...lab.run.weights(lab.at)[0]]") == run.weights[6].tolist()
    page.click("#to-end")
    assert "Converged" in page.inner_text("#position")
    page.evaluate("speed.value = 100")
    page.click("#play")
    page.wait_for_function("!lab.clock.playing && lab.at === lab.run.end")


def test_the_formula_has_the_numbers_of_the_update(page):
    staged(page, {"rows": [[2, 1], [1, 2]], "labels": [1, 0], "classes": [-1, 1], "models": [{"fit_intercept": False}]})
    page.click("#to-start")
    page.click("#step-on")
    lines = page.inner_text("#update")
    assert "m = y·(w·x) = +1·(0, 0)·(2, 1) = 0: 0 counts as a mistake" in lines.replace("\n", " ")
    assert "w ← w + τ·y·x = (0, 0) + 1·(+1)·(2, 1) = (2, 1)" in lines
    page.click("#step-on")
    assert "w ← w + τ·y·x = (2, 1) + 1·(−1)·(1, 2) = (1, −1)" in page.inner_text("#update")


@pytest.mark.parametrize(
    "name", ["clouds", "and", "or", "xor", "offset", "thin", "touching", "noise", "recency", "moons"]
)
def test_named_sets_show_what_the_library_says(page, name):
    load(page, name)
    agrees(page)
    bound = page.query_selector("#bound-text")
    assert int(bound.get_attribute("data-made")) <= float(bound.get_attribute("data-value"))


def test_two_models_stand_side_by_side(page):
    load(page, "recency")
    page.click("#compare")
    settled(page)
    X, y = points(page)
    for id, readout in (("A", "last"), ("B", "averaged")):
        model = Perceptron(shuffle=False, max_iter=100, readout=readout).fit(X, y)
        assert told(page, f"coef-{id}") == model.coef_.tolist()
        assert told(page, f"training-{id}") == 1 - model.score(X, y)
    assert page.is_visible("#svg-B")
    page.click("#model-A")
    page.click("#to-start")
    page.click("#step-on")
    assert page.evaluate("lab.positionOf(0)") == 1
    seen = page.evaluate("lab.run.seenAt(1)")
    assert page.evaluate("lab.runs[1].seenAt(lab.positionOf(1))") <= seen
    page.click("#compare")
    settled(page)
    assert not page.is_visible("#svg-B")


def test_weight_space_and_step_follow_the_run(page):
    load(page, "thin")
    assert page.is_visible("#bias-off")
    page.click("#bias-off")
    settled(page)
    assert page.is_visible("#weights") and not page.is_visible("#bias-off")
    assert page.locator("#weights .allowed").count() == 24 and page.locator("#weights .cone").count() == 1
    assert page.locator("#step .arrow").count() == 3
    load(page, "xor")
    assert page.locator("#weights .cone").count() == 0
    assert "no cone" in page.inner_text("#weights-text")


def test_a_kernel_separates_xor(page):
    load(page, "xor")
    assert page.get_attribute("#verdict-bias", "data-separable") == "false"
    page.select_option("#estimator", "KernelPerceptron")
    settled(page)
    page.select_option("#kernel", "poly")
    settled(page)
    assert told(page, "converged-A") is True
    assert page.locator("#svg-A .boundary").count() == 1
    assert page.locator("#svg-A .point.is-support").count() == told(page, "support-A")
    assert page.locator("#svg-A .point.is-wrong").count() == 0
    assert page.locator("#dual li").count() == told(page, "support-A")


def test_what_cannot_be_combined_is_said(page):
    load(page, "three")
    page.select_option("#rule", "uneven")
    settled(page)
    assert "margin for each of two classes" in page.inner_text("#position")
    page.select_option("#rule", "perceptron")
    settled(page)
    assert told(page, "converged-A") is True
    page.fill("#max_iter", "999999")
    page.press("#max_iter", "Enter")
    page.wait_for_selector("#message:not([hidden])")
    assert "points times passes are at most 100,000" in page.inner_text("#message")
    settled(page)
    assert page.evaluate("lab.scene.models[0].max_iter") == 100_000 // page.evaluate("lab.scene.rows.length")


def test_a_refused_scene_says_why_and_marks_what_is_old(page):
    page.evaluate("lab.scene = { ...lab.scene, held_out: 7 }; lab.changed()")
    page.wait_for_selector("#message:not([hidden])")
    assert "held-out points must be between 0 and 0.9" in page.inner_text("#message")
    assert page.locator("main.is-stale").count() == 1
    page.evaluate("lab.scene = { ...lab.scene, held_out: 0 }; lab.changed()")
    settled(page)
    assert page.locator("main.is-stale").count() == 0


def test_points_stay_in_view_when_the_window_changes(page):
    load(page, "and")
    for width, height in ((1280, 720), (1920, 600), (844, 390), (390, 844)):
        page.set_viewport_size({"width": width, "height": height})
        page.wait_for_timeout(200)
        inside = page.evaluate("lab.scene.rows.every((row) => lab.planes[0].view.holds(row))")
        assert inside, (width, height)
