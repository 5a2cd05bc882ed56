"""How CSV files are written: what is guessed about them, and how their cells become text and numbers."""
