"""The shared corpus: chunks of many tenants and repositories, what withdraws them, and how they travel."""
