"""The shared corpus: chunks of many tenants and repositories, their withdrawal and their backups."""
