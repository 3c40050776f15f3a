"""The doors: the command line for people, and the Model Context Protocol for agents."""
