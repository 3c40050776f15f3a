"""What goes into a shared corpus and comes out of it: folders, payloads, backups, and reports on it."""
