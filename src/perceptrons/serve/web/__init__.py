"""The server on the wire: routes, tokens, metrics, events."""
