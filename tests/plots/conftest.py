"""Pictures are drawn without a screen, and closed after each test."""

import matplotlib
import pytest

matplotlib.use("Agg")


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


@pytest.fixture
def rendered(tmp_path):
    """Draws a figure into a file and checks that something is on it, and that nothing is cut off."""

    def render(figure):
        path = tmp_path / "picture.png"
        figure.savefig(path, dpi=60)
        image = matplotlib.image.imread(path)
        assert image[..., :3].std() > 0.02
        edges = (image[0], image[-1], image[:, 0], image[:, -1])
        assert all((edge[..., :3] == 1.0).all() for edge in edges), "something is cut off at the edge"
        return path

    return render
