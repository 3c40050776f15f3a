"""The clustering stage: groups of wordings that ask for the same thing."""
