"""Where the heavy steps run: here, or on a cluster."""
