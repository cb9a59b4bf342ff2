"""Models behind one interface, from requests to replies, with resumable runs."""
