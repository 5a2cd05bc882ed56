"""The estimators for tables as they are."""
