"""Cut sources into shards: consecutive parts that other processes can read."""
