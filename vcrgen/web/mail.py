"""Mail through a server that a maintainer names; an address from a stranger goes nowhere but into the field `To`."""

from __future__ import annotations

import re
import smtplib
import ssl
from email.message import EmailMessage
from email.utils import formatdate, make_msgid
from urllib.parse import unquote, urlsplit

from vcrgen.errors import ServiceError

SECONDS = 20.0  # for connecting, and for each answer
MAX_ADDRESS, PERMANENT = 254, 500  # letters of an address; from this answer on, another try is in vain
PORTS = {"smtp": 587, "smtps": 465}
OWN = ("localhost", "127.0.0.1", "::1")
_ADDRESS = re.compile(r"[A-Za-z0-9_.+-]{1,64}@(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z]{2,63}")


def is_address(text: str) -> bool:
    """Return whether a text is one plain address: no name beside it, no quotes, no second address."""
    return len(text) <= MAX_ADDRESS and _ADDRESS.fullmatch(text) is not None


class MailRefused(Exception):
    """The server does not take mail for this address, now and later."""


class MailServer:
    """A server that takes mail: ``smtps://USER:PASSWORD@HOST:465``, or ``smtp://`` with TLS from STARTTLS on.

    Args:
        url: Its address. Without TLS only a server of this machine is used.
        sender: The address that mail comes from.

    Raises:
        ServiceError: The URL or the sender is none.
    """

    def __init__(self, url: str, sender: str) -> None:
        try:
            parts = urlsplit(url)
            self._host, port = parts.hostname or "", parts.port
        except ValueError:
            parts, port, self._host = urlsplit(""), None, ""
        if parts.scheme not in PORTS or not self._host:
            raise ServiceError("The mail server in board.yaml is smtps://USER:PASSWORD@HOST:465 or smtp://...:587.")
        if not is_address(sender):
            raise ServiceError("The sender of mail in board.yaml is an address such as board@example.org.")
        self._secure, self._port, self._sender = parts.scheme == "smtps", port or PORTS[parts.scheme], sender
        self._user, self._password = unquote(parts.username or ""), unquote(parts.password or "")

    def send(self, to: str, subject: str, text: str) -> None:
        """Send one mail of plain text.

        Raises:
            MailRefused: The address is none that the server takes.
            OSError: The server could not be reached, or does not take it now.
        """
        mail = EmailMessage()
        mail["From"], mail["To"], mail["Subject"] = self._sender, to, " ".join(subject.split())
        mail["Date"], mail["Message-ID"] = formatdate(), make_msgid(domain=self._sender.partition("@")[2])
        mail["Auto-Submitted"] = "auto-generated"
        mail.set_content(text)
        context = ssl.create_default_context()
        try:
            opened = (
                smtplib.SMTP_SSL(self._host, self._port, timeout=SECONDS, context=context)
                if self._secure
                else smtplib.SMTP(self._host, self._port, timeout=SECONDS)
            )
            with opened as server:
                if not self._secure and self._host not in OWN:
                    server.starttls(context=context)
                if self._user:
                    server.login(self._user, self._password)
                server.send_message(mail)
        except smtplib.SMTPRecipientsRefused as problem:
            code = max((code for code, _ in problem.recipients.values()), default=0)
            if code >= PERMANENT:
                raise MailRefused(f"the mail server answers {code}") from None
            raise OSError(f"the mail server answers {code}") from None
        except smtplib.SMTPException as problem:  # its text may quote the password's user or the address
            raise OSError(f"the mail server does not take it ({type(problem).__name__})") from None
