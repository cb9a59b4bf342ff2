"""The information that the visible pixels of a covered span give away: lexicons, templates and their posterior."""
