"""The solver: floats find a separator or a contradiction, exact arithmetic proves it."""
