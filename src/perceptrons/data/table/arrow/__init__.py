"""Tables of Arrow: Parquet and Arrow files, and data frames in memory."""
