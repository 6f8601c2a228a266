"""Text front end: text to phonemes to ids. No network, no models."""
