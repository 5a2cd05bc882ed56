"""Property tests draw the same examples in every run; `--hypothesis-profile=explore` draws new ones."""

from hypothesis import settings

settings.register_profile("same", derandomize=True, deadline=None)
settings.register_profile("explore", deadline=None, max_examples=500)
settings.load_profile("same")
