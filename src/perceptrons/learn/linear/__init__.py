"""The linear learner."""
