"""The middlewares: five rooms that a step passes, one after the other."""
