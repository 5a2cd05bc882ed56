"""scikit-learn's checks of estimators with other settings than the defaults, and why some checks cannot hold."""

import pytest
from sklearn.utils.estimator_checks import check_estimator

from perceptrons import KernelPerceptron, PassiveAggressiveClassifier, Perceptron
from perceptrons.rules import AROW

IN_A_STREAM = (
    "check_fit_score_takes_y",
    "check_n_features_in_after_fitting",
    "check_estimators_partial_fit_n_features",
)
BY_CLASS = ("check_class_weight_classifiers",)
TRAINS_WELL = ("check_classifiers_train",)
WEIGHTED = (
    *("check_sample_weights_pandas_series", "check_sample_weights_not_an_array", "check_sample_weights_list"),
    *("check_all_zero_sample_weights_error", "check_sample_weights_shape", "check_sample_weights_not_overwritten"),
    *("check_classifiers_one_label_sample_weights", *BY_CLASS),
)
OTHER_THAN_ONE = ("check_sample_weights_list", "check_sample_weights_not_overwritten", *BY_CLASS)
SCALED = tuple(f"check_sample_weight_equivalence_on_{form}_data" for form in ("dense", "sparse"))  # see test_estimators
NO_STREAM = "partial_fit refuses this setting, as in scikit-learn"
NO_WEIGHTS = "weights are refused"
# The checks that cannot hold, by reason. docs/guides/scikit-learn.md lists them for users.
SETTINGS = [
    (Perceptron(early_stopping=True), {NO_STREAM: IN_A_STREAM, "held-out rows count without weights": BY_CLASS}),
    (Perceptron(class_weight="balanced"), {NO_STREAM: IN_A_STREAM}),
    (Perceptron(shuffle=False), {"the last rows have the last word": BY_CLASS}),
    (Perceptron(fit_intercept=False), {"the boundaries pass through the origin": BY_CLASS}),
    (Perceptron(warm_start=True), {"a second fit continues": ("check_supervised_y_2d",)}),
    (Perceptron(rule="pa"), {NO_WEIGHTS: WEIGHTED}),
    (Perceptron(rule="arow"), {}),
    (Perceptron(rule=AROW(covariance="full")), {"variances of scores differ": ("check_decision_proba_consistency",)}),
    (Perceptron(rule="romma"), {NO_WEIGHTS: WEIGHTED}),
    (Perceptron(rule="alma"), {NO_WEIGHTS: WEIGHTED}),
    (PassiveAggressiveClassifier(C=float("inf")), {"a weight scales C, which is infinite": BY_CLASS}),
    (KernelPerceptron(budget=2), {"two rows are too few": TRAINS_WELL}),
    (KernelPerceptron(budget=20, policy="random"), {"a random row is dropped at each step": TRAINS_WELL}),
    (KernelPerceptron(budget=20, policy="forgetron"), {NO_WEIGHTS: OTHER_THAN_ONE}),
    (
        KernelPerceptron(kernel="precomputed"),
        {
            "the check passes rows that are not a kernel matrix": (
                "check_positive_only_tag_during_fit",
                "check_classifiers_one_label_sample_weights",
            )
        },
    ),
]


def name(given):
    return "" if isinstance(given, dict) else " ".join(repr(given).split())


@pytest.mark.parametrize(("model", "differences"), SETTINGS, ids=name)
def test_scikit_learns_checks_of_other_settings(model, differences):
    reasons = {check: reason for reason, checks in differences.items() for check in checks}
    listed = dict.fromkeys(SCALED, "") | reasons
    results = check_estimator(model, expected_failed_checks=listed, on_fail=None, on_skip=None)
    wrong = {result["check_name"]: result["exception"] for result in results if result["status"] == "failed"}
    assert not wrong
    expected = {result["check_name"] for result in results if result["status"] == "xfail"}
    assert set(reasons) <= expected  # a difference that has gone should leave the list
