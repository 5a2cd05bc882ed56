"""A model of a server: what requests do to it, its log, and how it is rebuilt from that."""
