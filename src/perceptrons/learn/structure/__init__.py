"""The learner over structures of any kind."""
