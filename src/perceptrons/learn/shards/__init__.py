"""Learning from shards of the rows side by side: iterative parameter mixing (McDonald, Hall & Mann 2010)."""
