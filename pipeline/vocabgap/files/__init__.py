"""Everything about disks, once."""
