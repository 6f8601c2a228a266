"""Inference: named arrays in, named arrays out, on the provider the device has."""
