"""The most that the lab takes."""

ROWS = 1000  # of a table, and of a scene
FEATURES = 64
CLASSES = 6
BYTES = 5_000_000  # of a table that is uploaded or pasted
MODELS = 2  # of a scene
VISITS = 100_000  # rows times passes of a model, so that every update can be recorded
LARGEST = 1e12  # of coordinates
