"""Options of every web service."""

from vcrgen.core.options import Options, option


class ServiceOptions(Options):
    """Address of a service."""

    host: str = option("127.0.0.1", "Address to listen on.")
    port: int = option(8000, "Port; 0 for a free one.", ge=0, le=65535)
    proxy: str = option(
        "", "Addresses of trusted proxies, by commas: their header says where a client is.", shown="none"
    )
