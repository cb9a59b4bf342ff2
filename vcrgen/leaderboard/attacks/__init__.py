"""Attacks on a board's hidden sets by what the board discloses, run by the board itself."""
