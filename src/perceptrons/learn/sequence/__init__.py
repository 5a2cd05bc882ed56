"""The learner of sequences, and the tagger around it."""
