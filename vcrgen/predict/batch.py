"""Batches of a dataset's requests, by the ledger of a run: batches and live runs complete each other.

Two kinds of lines in the ledger are about batches: ``batch ID`` with the ids of its requests, and ``fetched ID`` when
its replies are in the ledger. A request of a batch that is not fetched is in no other batch.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from vcrgen.dataset.pictures import PictureSelection
from vcrgen.dataset.reader import Dataset
from vcrgen.models.base import Reply, Request, RequestProblem
from vcrgen.models.batch import BatchClient, BatchState
from vcrgen.models.run import is_refused, remember_refusal
from vcrgen.predict.job import BATCH, FETCHED, open_batches, open_ledger, read_usage
from vcrgen.predict.prompts import Prompt
from vcrgen.predict.questions import open_selection
from vcrgen.predict.report import VERSION
from vcrgen.predict.run import guard_output
from vcrgen.work.ledger import Ledger
from vcrgen.work.progress import SILENT, ProgressListener


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchJob:
    """The batches of a selection of a dataset.

    Args:
        dataset: The dataset.
        choice: The selected pictures or questions.
        out: The file of outputs, whose ledger is used.
        client: The server's batches.
        facts: Facts of the model, as those of a live run.
        prompt: The prompt.
        listener: Receives warnings.
    """

    dataset: Dataset
    choice: PictureSelection
    out: Path
    client: BatchClient
    facts: Mapping[str, Any]
    prompt: Prompt
    listener: ProgressListener = SILENT

    def submit(self) -> dict[str, int]:
        """Submit the requests that have no reply and are in no batch; return batches with their numbers of requests."""
        found = {}
        with self._ledger() as ledger:
            for batch, ids in self.client.submit(self._missing(ledger)):
                ledger.add(f"{BATCH}{batch}", ids)
                found[batch] = len(ids)
        return found

    def states(self) -> dict[str, BatchState]:
        """Return the states of the batches that are not fetched."""
        with self._ledger() as ledger:
            return {batch: self.client.state(batch) for batch in open_batches(ledger)}

    def fetch(self) -> tuple[Counter[str], dict[str, BatchState]]:
        """Take the replies of batches that have ended into the ledger.

        Returns:
            Requests by outcome (``replies``, ``refused``; ``left``: of no batch that is open, without a reply), and the
            batches that have not ended.
        """
        counts, waiting = Counter[str](), {}
        with self._ledger() as ledger:
            read_usage(ledger, None, self.out)
            for batch in open_batches(ledger):
                state = self.client.state(batch)
                if not state.ended:
                    waiting[batch] = state
                    continue
                taken = self._take(ledger, batch, set(ledger[f"{BATCH}{batch}"]))
                counts += taken
                ledger.add(f"{FETCHED}{batch}", dict(taken))
            counts["left"] = sum(1 for _ in self._missing(ledger))
        return counts, waiting

    def _take(self, ledger: Ledger, batch: str, ids: set[str]) -> Counter[str]:
        """Store the outcomes of a batch, each request's first one."""
        taken, seen = Counter[str](), set[str]()
        for key, outcome in self.client.outcomes(batch):
            if key not in ids or key in seen or outcome is None:
                continue
            seen.add(key)
            if isinstance(outcome, Reply):
                ledger.add(key, replace(outcome, served={**outcome.served, "batch": batch}).to_json())
                taken["replies"] += 1
            else:
                remember_refusal(ledger, key, outcome)
                taken["refused"] += 1
        return taken

    @contextmanager
    def _ledger(self) -> Iterator[Ledger]:
        pictures = open_selection(self.dataset, self.choice, answers=False)
        facts = {"version": VERSION, "dataset": pictures.identity, **self.facts, **self.prompt.facts}
        with guard_output(self.out), open_ledger(self.out, facts, self.listener) as ledger:
            yield ledger

    def _missing(self, ledger: Ledger) -> Iterator[Request]:
        """Yield the requests that are to be submitted, each once; those that cannot be sent are left to a live run."""
        known = {key for batch in open_batches(ledger) for key in ledger[f"{BATCH}{batch}"]}
        for picture in open_selection(self.dataset, self.choice, answers=False).stream():
            if picture.problem:
                continue
            try:
                request = self.prompt.request(picture)
                key = request.id
                if key in known or key in ledger or is_refused(ledger, key):
                    continue
                self.client.check(request)
            except RequestProblem:
                continue
            known.add(key)
            yield request
