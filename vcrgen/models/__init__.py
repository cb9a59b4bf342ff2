"""What reads pictures: models behind one interface."""
