"""What the verbs that train share: options, the training itself, clusters."""
