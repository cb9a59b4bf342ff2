"""How the items of other sets spread over the leaves of a taxonomy."""
