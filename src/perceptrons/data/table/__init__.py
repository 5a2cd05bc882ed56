"""Tables: CSV, Parquet and Arrow files as rows of numbers, one-hot categories and hashed text."""
