"""Engines that run the heavy steps on a cluster."""
