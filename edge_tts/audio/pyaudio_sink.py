"""A PortAudio output device. The only module that imports pyaudio."""
