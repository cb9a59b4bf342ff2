"""A small imitation of the Hugging Face Hub, for tests without a network.

Written against the sources of huggingface_hub 2.4.0 and datasets 5.2.0: it answers what these ask when they create,
fill, list and read repositories of datasets. The real Hub was not reached. Not here: Xet (clients have to switch it
off), multipart uploads, pull requests, quotas, the dataset viewer, and the Hub's own checks of a card's words.
"""

import base64
import hashlib
import json
import re
import threading
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

import yaml

TOKEN, AGREED = "hf_test", "hf_agreed"  # of somebody, and of somebody who has agreed to whatever gated repositories ask
PAGE = 2  # entries of a listing at a time, so that clients have to turn pages; the Hub's is 1000
Files = dict[str, bytes]
Answer = tuple[int, dict[str, str], bytes]


def sha1(data: bytes) -> str:
    return hashlib.sha1(data, usedforsecurity=False).hexdigest()


def is_large(path: str) -> bool:
    """Return whether a file is kept in Git LFS; the Hub goes by .gitattributes and by size."""
    return path.endswith((".parquet", ".tar"))


class Refused(Exception):
    """An answer that is none: its status, the Hub's code for it, and what it says."""


class Hub:
    """Repositories of datasets in memory, behind two servers on loopback: the Hub, and the storage it redirects to.

    Attributes:
        url: Of the Hub.
        storage: Of the storage.
        objects: Large files, by the SHA-256 of their bytes.
        gated: Repositories that ask for an agreement.
        requests: What was asked of the Hub and the storage: method, path, and headers by their names in small letters.
    """

    def __init__(self) -> None:
        self.objects: Files = {}
        self.gated: set[str] = set()
        self.requests: list[tuple[str, str, Mapping[str, str]]] = []
        self.lock = threading.Lock()
        self._commits: dict[str, dict[str, Files]] = {}
        self._branches: dict[str, dict[str, str]] = {}
        handler = type("Handler", (_Handler,), {"hub": self})
        self._servers = [ThreadingHTTPServer(("127.0.0.1", 0), handler) for _ in range(2)]
        self.url, self.storage = (f"http://127.0.0.1:{server.server_port}" for server in self._servers)
        for server in self._servers:
            threading.Thread(target=server.serve_forever, daemon=True).start()

    def close(self) -> None:
        """Answer no more."""
        for server in self._servers:
            server.shutdown()
            server.server_close()

    def settings(self, home: Path) -> dict[str, str]:
        """Environment variables by which a new process takes this for the Hub and asks nothing of the real one.

        `datasets` also looks for a viewer at a host of its own, which does not exist, and goes on without.
        """
        return {
            **{f"HF_HUB_DISABLE_{what}": "1" for what in ("XET", "TELEMETRY", "UPDATE_CHECK", "PROGRESS_BARS")},
            **{f"HF_{what}": str(home / what.lower()) for what in ("HOME", "HUB_CACHE", "DATASETS_CACHE")},
            **{"HF_ENDPOINT": self.url, "HF_TOKEN": TOKEN, "HF_HUB_OFFLINE": "0", "HF_UPDATE_DOWNLOAD_COUNTS": "0"},
            **{"NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"},
        }

    def create(self, name: str) -> bool:
        """Create an empty repository; False if there is one."""
        if name in self._commits:
            return False
        first = sha1(name.encode())
        self._commits[name], self._branches[name] = {first: {}}, {"main": first}
        return True

    def commit(self, name: str, files: Files, branch: str = "main") -> str:
        """Make these all files of a branch, in a repository that may be new; the commit's id."""
        self.create(name)
        before = self._branches[name].get(branch, branch)
        commit = sha1(f"{before} {sorted((path, sha1(data)) for path, data in files.items())}".encode())
        self._commits[name][commit] = dict(files)
        self._branches[name][branch] = commit
        return commit

    def find(self, name: str, revision: str = "main") -> tuple[str, Files]:
        """The commit that a revision names, and its files."""
        if name not in self._commits:
            raise Refused(404, "RepoNotFound", "Repository not found")
        commit = self._branches[name].get(revision, revision)
        if commit not in self._commits[name]:
            raise Refused(404, "RevisionNotFound", f"Invalid rev id: {revision}")
        return commit, self._commits[name][commit]


class _Handler(BaseHTTPRequestHandler):
    """One connection."""

    hub: Hub
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *args: Any) -> None:
        """Be quiet."""

    def _answer(self) -> None:
        self.body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path, query = urlsplit(self.path)[2:4]
        self.query = dict(parse_qsl(query))
        headers = {key.lower(): value for key, value in self.headers.items()}
        self.hub.requests.append((self.command, unquote(path), headers))
        try:
            status, headers, data = self._route(path)
        except Refused as error:
            status, code, message = error.args
            if code in ("RepoNotFound", "GatedRepo") and not self._known():
                status = 401  # as the Hub does, not to tell strangers what there is
            headers, data = {"X-Error-Code": code, "X-Error-Message": message}, message.encode()
        self.send_response(status)
        for key, value in {"Content-Length": str(len(data)), **headers}.items():
            self.send_header(key, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    do_GET = do_HEAD = do_POST = do_PUT = _answer

    def _route(self, path: str) -> Answer:
        method = "GET" if self.command == "HEAD" else self.command
        for pattern, function in ROUTES:
            if found := re.fullmatch(pattern, f"{method} {path}"):
                return function(self, **{key: unquote(value or "") for key, value in found.groupdict().items()})
        raise Refused(404, "", f"{method} {path} is not imitated")

    def _known(self, *tokens: str) -> bool:
        return self.headers.get("Authorization") in [f"Bearer {token}" for token in tokens or (TOKEN, AGREED)]

    def _files(self, name: str, revision: str) -> tuple[str, Files]:
        """Return the content of a commit, for those who may see it."""
        found = self.hub.find(name, revision)
        if name in self.hub.gated and not self._known(AGREED):
            raise Refused(403, "GatedRepo", f"Access to dataset {name} is restricted.")
        return found

    def _writing(self) -> None:
        if not self._known():
            raise Refused(401, "", "Invalid username or password.")

    def _info(self, name: str, revision: str = "") -> Answer:
        """Of a gated repository, too: its files are what is not shown."""
        commit, _ = self.hub.find(name, revision or "main")
        return _json({"id": name, "sha": commit, "gated": "auto" if name in self.hub.gated else False})

    def _auth_check(self, name: str) -> Answer:
        self._files(name, "main")
        return 200, {}, b""

    def _tree(self, name: str, revision: str, path: str = "") -> Answer:
        _, files = self._files(name, revision)
        prefix = f"{path}/" if path else ""
        found: dict[str, dict[str, Any]] = {}
        for file in sorted(files):
            parts = file.removeprefix(prefix).split("/") if file.startswith(prefix) else []
            for depth in range(1, len(parts)):
                folder = prefix + "/".join(parts[:depth])
                found[folder] = {"type": "directory", "path": folder, "oid": sha1(folder.encode()), "size": 0}
            if parts:
                found[file] = _facts(file, files[file])
        if path and not found:
            raise Refused(404, "EntryNotFound", f"{path} does not exist on {revision}")
        deep = self.query.get("recursive", "").lower() == "true"
        entries = [fact for place, fact in sorted(found.items()) if deep or "/" not in place.removeprefix(prefix)]
        end = int(self.query.get("cursor", 0)) + PAGE
        following = urlencode(self.query | {"cursor": end})
        link = f'<{self.hub.url}{urlsplit(self.path).path}?{following}>; rel="next"'
        return _json(entries[end - PAGE : end], {"Link": link} if end < len(entries) else {})

    def _resolve(self, name: str, revision: str, path: str) -> Answer:
        commit, files = self._files(name, revision)
        if path not in files:
            raise Refused(404, "EntryNotFound", "Entry not found")
        facts = _facts(path, files[path])
        headers = {"X-Repo-Commit": commit, "ETag": f'"{facts["oid"]}"'}
        if not is_large(path):
            return self._part(files[path], headers)
        linked = {"X-Linked-Size": str(facts["size"]), "X-Linked-ETag": f'"{facts["lfs"]["oid"]}"'}
        self.hub.objects[facts["lfs"]["oid"]] = files[path]
        return 302, {**headers, **linked, "Location": f"{self.hub.storage}/{facts['lfs']['oid']}"}, b""

    def _object(self, oid: str) -> Answer:
        return self._part(self.hub.objects[oid], {"ETag": f'"{oid}"'})

    def _part(self, data: bytes, headers: dict[str, str]) -> Answer:
        if not (asked := re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))):
            return 200, headers, data
        start, end = int(asked[1]), min(int(asked[2] or len(data)) + 1, len(data))
        return 206, {**headers, "Content-Range": f"bytes {start}-{end - 1}/{len(data)}"}, data[start:end]

    def _create(self) -> Answer:
        self._writing()
        asked = json.loads(self.body)
        assert asked["type"] == "dataset", "only datasets are imitated"
        name = f"{asked['organization'] or 'me'}/{asked['name']}"
        new = self.hub.create(name)
        return _json({"url": f"{self.hub.url}/datasets/{name}"}, status=200 if new else 409)

    def _validate_yaml(self) -> Answer:
        head = json.loads(self.body)["content"].partition("---\n")[2].partition("\n---")[0]
        try:
            yaml.safe_load(head)
        except yaml.YAMLError as error:
            return _json({"errors": [{"message": str(error)}]}, status=400)
        return _json({"errors": [], "warnings": []})

    def _preupload(self, name: str, revision: str) -> Answer:
        self._writing()
        self.hub.find(name, revision)
        files = [{"path": file["path"], "shouldIgnore": False} for file in json.loads(self.body)["files"]]
        return _json(
            {"files": [{**file, "uploadMode": "lfs" if is_large(file["path"]) else "regular"} for file in files]}
        )

    def _batch(self, name: str) -> Answer:
        self._writing()
        objects = json.loads(self.body)["objects"]
        for entry in objects:
            if entry["oid"] not in self.hub.objects:
                entry["actions"] = {"upload": {"href": f"{self.hub.storage}/{entry['oid']}"}}
        return _json({"transfer": "basic", "objects": objects})

    def _put(self, oid: str) -> Answer:
        if hashlib.sha256(self.body).hexdigest() != oid:
            raise Refused(400, "", "not the bytes that were announced")
        self.hub.objects[oid] = self.body
        return 200, {}, b""

    def _commit(self, name: str, revision: str) -> Answer:
        self._writing()
        header, *changes = (json.loads(line) for line in self.body.splitlines())
        with self.hub.lock:
            before, files = self.hub.find(name, revision)
            if header["value"].get("parentCommit", before) != before:
                raise Refused(412, "", "A commit has happened since. Please refresh and try again.")
            files = dict(files)
            for change in changes:
                value = change["value"]
                if change["key"] == "deletedFile":
                    del files[value["path"]]
                else:
                    large = change["key"] == "lfsFile"
                    data = self.hub.objects[value["oid"]] if large else base64.b64decode(value["content"])
                    files[value["path"]] = data
            commit = self.hub.commit(name, files, revision)
        return _json({"commitOid": commit, "commitUrl": f"{self.hub.url}/datasets/{name}/commit/{commit}"})


def _json(value: Any, headers: Mapping[str, str] | None = None, *, status: int = 200) -> Answer:
    return status, {"Content-Type": "application/json", **(headers or {})}, json.dumps(value).encode()


def _facts(path: str, data: bytes) -> dict[str, Any]:
    """A file as listings show it."""
    oid = sha1(b"blob %d\0" % len(data) + data)
    facts: dict[str, Any] = {"type": "file", "path": path, "size": len(data), "oid": oid}
    if is_large(path):
        facts["lfs"] = {"oid": hashlib.sha256(data).hexdigest(), "size": len(data), "pointerSize": 130}
    return facts


_NAME, _REVISION = "(?P<name>[^/]+/[^/]+)", "(?P<revision>[^/]+)"
ROUTES: list[tuple[str, Callable[..., Answer]]] = [
    ("POST /api/repos/create", _Handler._create),
    ("POST /api/validate-yaml", _Handler._validate_yaml),
    (f"GET /api/datasets/{_NAME}(/revision/{_REVISION})?", _Handler._info),
    (f"GET /api/datasets/{_NAME}/auth-check", _Handler._auth_check),
    (f"GET /api/datasets/{_NAME}/tree/{_REVISION}(/(?P<path>.+))?", _Handler._tree),
    (f"POST /api/datasets/{_NAME}/preupload/{_REVISION}", _Handler._preupload),
    (f"POST /api/datasets/{_NAME}/commit/{_REVISION}", _Handler._commit),
    (rf"POST /datasets/{_NAME}\.git/info/lfs/objects/batch", _Handler._batch),
    (f"GET /datasets/{_NAME}/resolve/{_REVISION}/(?P<path>.+)", _Handler._resolve),
    ("GET /(?P<oid>[0-9a-f]{64})", _Handler._object),
    ("PUT /(?P<oid>[0-9a-f]{64})", _Handler._put),
]
