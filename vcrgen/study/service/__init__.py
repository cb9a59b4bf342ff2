"""The service of a study: a page for raters, which asks and keeps what they type, and a page for the maintainers."""
