"""``vcrgen study serve``: the service of a study until it is stopped."""

from __future__ import annotations

from vcrgen.study import store as db
from vcrgen.study.choice_texts import texts_for
from vcrgen.study.service.app import make_app
from vcrgen.study.store import Store
from vcrgen.study.texts import read_text
from vcrgen.web.serve import listen, only_service, run_service


def serve(store: Store, *, host: str, port: int, proxy: str) -> None:
    """Answer requests until asked to stop (SIGTERM or Ctrl-C); requests that are being answered are finished.

    Nothing but the study's folder is read: the dataset, and the key of a hidden set, need not be on the machine.

    Args:
        store: The study.
        host: Address to listen on.
        port: Port; 0 for a free one.
        proxy: Addresses of proxies, by commas, whose X-Forwarded-For is believed; empty for none.

    Raises:
        ServiceError: The port is taken, or the study is served already.
        StudyError: A text for raters is missing.
    """
    with store.reading() as connection:
        words = texts_for(db.read_frozen(connection))
    for lang in words.page:
        for kind in ("consent", "instructions"):
            read_text(store.folder, kind, lang)
    with only_service(store.folder):
        run_service(lambda alive: make_app(store), listen(host, port), proxy=proxy)
