"""Limits of requests: sizes, times and numbers that hold for every service."""

# Bodies
FORM_BYTES = 64 << 10  # for everything in a form that is not the file
MAX_FIELD = 2000  # characters of a field of a form
DRAIN_FACTOR = 2  # times the largest body: read to its end, so that every client sees why it was refused
CONCURRENT_FACTOR = 4  # times the largest body: bytes of all bodies that are being read
BODY_SECONDS = 600.0  # for a whole body
PAUSE_SECONDS = 20.0  # for its next part

# Connections
MAX_CONNECTIONS = 1000  # beyond which a request is answered with status 503
IDLE_SECONDS = 10  # between two requests of a connection
HEADER_BYTES = 32 << 10  # after which h11 refuses a header without an end; what is read at once (256 KiB) may be more

# Rates
REQUESTS_PER_MINUTE = 300  # of one address, without a token
MAX_GUESSES, GUESS_SECONDS = 10, 900  # unknown tokens of one address, in so many seconds
MAX_CLIENTS = 20_000  # that are remembered; the ones that came first are forgotten
