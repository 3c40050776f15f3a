"""Settings: frozen, and where they come from."""
