"""Cookies by which a service knows a browser again."""

from dataclasses import dataclass

from fastapi import Request, Response


@dataclass(frozen=True, slots=True, kw_only=True)
class Cookie:
    """A cookie that scripts cannot read.

    Over https its name begins with ``__Host-``: browsers take such a cookie from this host alone, and not from another
    one of its domain or by plain http (RFC 6265bis, 4.1.3.2).
    """

    name: str
    seconds: int
    is_secure: bool  # whether browsers reach the service by https

    @property
    def full_name(self) -> str:
        """The name that the browser sees."""
        return f"__Host-{self.name}" if self.is_secure else self.name

    def read(self, request: Request) -> str:
        """The value that a browser sent, or an empty text."""
        return request.cookies.get(self.full_name, "")

    def set(self, answer: Response, value: str) -> None:
        """Give the cookie to a browser; it comes along when a page of another site leads here."""
        answer.set_cookie(
            self.full_name, value, max_age=self.seconds, path="/", httponly=True, samesite="lax", secure=self.is_secure
        )

    def delete(self, answer: Response) -> None:
        """Take the cookie from a browser."""
        answer.delete_cookie(self.full_name, path="/", httponly=True, samesite="lax", secure=self.is_secure)
