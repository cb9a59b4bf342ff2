"""``vcrgen study serve``: the service of a study until it is stopped."""

from vcrgen.core.errors import StudyError
from vcrgen.study.page_texts import read_text, texts_for, unwritten_consents
from vcrgen.study.service.app import make_app
from vcrgen.study.service_address import note_address
from vcrgen.study.store.database import StudyStore
from vcrgen.study.store.designs import read_design
from vcrgen.web.options import ServiceOptions
from vcrgen.web.serve import run_service, single_service


def serve(store: StudyStore, options: ServiceOptions) -> None:
    """Answer requests until asked to stop (SIGTERM or Ctrl-C); requests that are being answered are finished.

    Nothing but the study's folder is read: the dataset, and the key of a hidden set, need not be on the machine.

    Raises:
        ServiceError: The port is taken, or the study is served already.
        StudyError: A text for raters is missing, or the consent is not written yet in a language of those invited.
    """
    with store.reading() as connection:
        words = texts_for(read_design(connection))
    for lang in words.page:
        for kind in ("consent", "instructions"):
            read_text(store.folder, kind, lang)
    for problem in unwritten_consents(store):
        raise StudyError(problem)
    with single_service(store.folder):
        run_service(lambda alive: make_app(store), options, on_serving=lambda url: note_address(store.folder, url))
