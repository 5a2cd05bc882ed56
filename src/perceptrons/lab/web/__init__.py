"""The server of the lab: the page, and one WebSocket for each tab."""
