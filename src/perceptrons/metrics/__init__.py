"""How good predictions are: entities and scores by type."""
