"""Audio: filters, tones, loudness and the devices that play."""
