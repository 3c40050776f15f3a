"""Engines that read logs on a cluster."""
