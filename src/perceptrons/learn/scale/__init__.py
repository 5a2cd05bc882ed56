"""Features on one scale: the map that a learner applies to its rows, and the statistics it follows from."""
