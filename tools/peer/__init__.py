"""The parts of tools/peers.py."""
