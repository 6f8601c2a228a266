"""Daemon: requests on a local socket, an alarm queue, one speaker."""
