"""The board as a web service: pages, uploads, an API, and a worker that scores in a process of its own."""
