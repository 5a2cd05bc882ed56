"""Every lesson, by keyboard alone, in a real browser: its questions have the answers that the library gives."""

import pytest
from pages import axe, settled, violations


def press(page, id):
    """Reach an element with Tab and press it, as someone does who has no mouse."""
    for _ in range(400):
        if page.evaluate("document.activeElement?.id") == id:
            page.keyboard.press("Enter")
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"the keyboard does not reach #{id}")


def choose(page, id, letters):
    """Reach a list with Tab and choose an entry by its first letters."""
    for _ in range(400):
        if page.evaluate("document.activeElement?.id") == id:
            page.keyboard.type(letters)
            settled(page)
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"the keyboard does not reach #{id}")


# What a step that has a task asks for, by lesson and step.
TASKS = {
    (1, 3): lambda page: [press(page, "to-end")],
    (3, 4): lambda page: press(page, "to-end"),
    (5, 4): lambda page: press(page, "to-end"),
    (4, 3): lambda page: choose(page, "order", "shuffled"),
    (5, 2): lambda page: tick(page, "fit_intercept"),
    (7, 3): lambda page: [choose(page, "estimator", "with a kernel"), choose(page, "kernel", "poly")],
}


def tick(page, id):
    for _ in range(400):
        if page.evaluate("document.activeElement?.id") == id:
            page.keyboard.press("Space")
            settled(page)
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"the keyboard does not reach #{id}")


def right(page):
    """The number of the right answer, as the lesson finds it in the run."""
    return page.evaluate("lab.lessons.lesson.steps[lab.lessons.number].ask.answer(lab, lab.lessons.memory)")


@pytest.mark.parametrize("number", range(1, 9))
def test_every_lesson_to_its_end_by_keyboard(page, number):
    press(page, "open-lessons")
    press(page, f"lesson-{number}")
    for step in range(1, page.evaluate("lab.lessons.lesson.steps.length") + 1):
        settled(page)
        assert f"Step {step} of" in page.inner_text("#lesson-body")
        if page.query_selector(".question"):
            answer = right(page)
            assert 0 <= answer < page.locator(".option").count()
            press(page, f"option-{answer}")
            feedback = page.inner_text("#lesson-feedback")
            assert feedback.startswith("Right.") and "undefined" not in feedback and "NaN" not in feedback
        elif (number, step) in TASKS:
            assert page.is_disabled("#lesson-next")
            TASKS[number, step](page)
        page.wait_for_selector("#lesson-next:not([disabled])")
        press(page, "lesson-next")
    assert page.inner_text("#lesson-title") == "Lessons"
    press(page, "lesson-close")
    assert not page.is_visible("#lesson")


def test_a_wrong_answer_is_explained(page):
    press(page, "open-lessons")
    press(page, "lesson-5")
    settled(page)
    wrong = 1 - right(page)
    page.click(f"#option-{wrong}")
    feedback = page.inner_text("#lesson-feedback")
    assert feedback.startswith("Not so: No.") and "cannot be separated by a line through the origin" in feedback


def test_answers_are_hidden_until_the_question_is_answered(page):
    press(page, "open-lessons")
    press(page, "lesson-7")
    settled(page)
    assert not page.is_visible("#verdicts") and not page.is_visible("#position")
    assert page.locator("#svg-A .conflict").count() == 0
    page.click("#option-1")
    assert page.is_visible("#verdicts") and page.is_visible("#position")
    assert page.locator("#svg-A .conflict").count() == 4


def test_a_changed_scene_can_be_set_again(page):
    press(page, "open-lessons")
    press(page, "lesson-6")
    settled(page)
    page.click("#clear")
    settled(page)
    assert "The scene has changed" in page.inner_text("#lesson-body")
    page.click("#lesson-again")
    settled(page)
    assert page.evaluate("lab.scene.models.length") == 2 and page.is_enabled("#option-0")
    page.click(f"#option-{right(page)}")
    assert page.inner_text("#lesson-feedback").startswith("Right.")


def test_going_back_restores_the_scene_and_the_position(page):
    press(page, "open-lessons")
    press(page, "lesson-1")
    settled(page)
    for _ in range(2):
        page.click(f"#option-{right(page)}")
        page.click("#lesson-next")
        settled(page)
    page.click("#to-end")
    page.click("#lesson-back")
    settled(page)
    assert page.evaluate("lab.at") == 1 and "Step 2 of 3" in page.inner_text("#lesson-body")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1400, 390])
def test_axe_finds_nothing(browser, address, scheme, width):
    import pages

    rules = axe()
    if rules is None:
        pytest.skip("axe-core is not installed: npm install --prefix .venv/axe axe-core")
    page = pages.opened(browser, address, color_scheme=scheme, viewport={"width": width, "height": 900})
    assert violations(page, rules) == []
    page.click("#compare")
    settled(page)
    page.click("#open-lessons")
    assert violations(page, rules) == []
    page.click("#lesson-1")
    settled(page)
    page.click("#option-1")
    assert violations(page, rules) == []
    page.click("#open-data")
    assert violations(page, rules) == []
    page.click("#data-close")
    page.click("#copy-python")
    page.wait_for_selector("#program[open]")
    assert violations(page, rules) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.context.close()
