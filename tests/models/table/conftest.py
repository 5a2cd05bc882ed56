"""The command `perceptrons`, also on the rows of frames as CSV."""

import pytest

from perceptrons import load
from perceptrons.cli.main import main


@pytest.fixture
def run(capsys):
    """Run the command; returns what it printed."""

    def run(*args):
        with pytest.raises(SystemExit) as leave:
            main([str(arg) for arg in args])
        out = capsys.readouterr().out
        assert not leave.value.code, out
        return out

    return run


@pytest.fixture
def trained(run, tmp_path):
    """What `load` makes of a model that the command trains on the rows of a frame, as CSV."""

    def train(df, *options):
        df.to_csv(tmp_path / "rows.csv", index=False)
        run("train", tmp_path / "rows.csv", "--target", "y", "-m", tmp_path / "m", "-q", *options)
        return load(tmp_path / "m")

    return train
