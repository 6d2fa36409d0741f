"""Git as a source of records: what is refused, the shallow clone, and which commit a folder stands at."""

import hashlib
import os
import re
import secrets
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final, Self
from urllib.parse import urlsplit

from okn_benchmark.errors import InputError, OutsideFailure

_SCHEMES: Final = ("https", "ssh", "file")
_FETCH_TIMEOUT_S: Final = 300.0
_FORM: Final = "Write git+https://host/user/repository[@ref][#subfolder]; https, ssh and file URLs are accepted."

# A repository is a stranger's: no hook, no other transport, no link in the work tree, no question at the terminal.
_SAFE: Final = (
    "-c", "core.hooksPath=/dev/null", "-c", "core.symlinks=false", "-c", "protocol.ext.allow=never",
    "-c", "core.fsmonitor=false", "-c", "gc.auto=0", "-c", "advice.detachedHead=false", "-c", "init.defaultBranch=main",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class GitSource:
    """A parsed ``git+<url>[@ref][#subdir]``."""

    url: str
    ref: str | None = None
    subdir: str | None = None

    def __str__(self) -> str:
        at = f"@{self.ref}" if self.ref else ""
        return f"git+{self.url}{at}" + (f"#{self.subdir}" if self.subdir else "")

    @classmethod
    def parse(cls, spec: str) -> Self:
        """Read and vet a spec.

        Raises:
            InputError: another scheme, credentials in the URL, a ref or subdir that could do something else.
        """
        address, _, subdir = spec.removeprefix("git+").partition("#")
        scheme, mark, rest = address.partition("://")
        if not mark or scheme not in _SCHEMES:
            raise InputError(f"{_shown(address)} is not a git URL this program fetches.", hint=_FORM)
        host, slash, path = rest.partition("/")
        repository, at, ref = path.rpartition("@")
        if not at:
            repository, ref = path, ""
        url = f"{scheme}://{host}{slash}{repository}"
        _vet_url(url)
        if at:
            _vet_ref(ref)
        return cls(url=url, ref=ref or None, subdir=_vet_subdir(subdir) if subdir else None)

    def folder(self, top: Path) -> Path:
        """The folder of the records inside a clone at ``top``.

        Raises:
            InputError: the clone has no such folder, or it leads out of the clone.
        """
        folder = top / self.subdir if self.subdir else top
        if not folder.resolve().is_relative_to(top.resolve()):
            raise InputError(f"The subfolder {self.subdir!r} leads out of the clone of {self.url}.")
        if not folder.is_dir():
            raise InputError(f"{self.url} has no folder {self.subdir!r} at {self.ref or 'its default branch'}.")
        return folder


def _shown(address: str) -> str:
    """An address without user and password, for messages."""
    return re.sub(r"//[^/@]*@", "//", address)[:200]


def _vet_url(url: str) -> None:
    try:
        parts = urlsplit(url)
        user, password, host = parts.username, parts.password, parts.hostname or ""
    except ValueError as error:
        raise InputError(f"{_shown(url)} is not a URL.", hint=_FORM) from error
    if password or (user and parts.scheme != "ssh"):
        raise InputError(
            f"The git URL {_shown(url)} carries credentials, which would end up in command lines and records.",
            hint="Leave them out and let git's credential helper supply them.",
        )
    if host.startswith("-") or (user or "").startswith("-") or (parts.scheme != "file" and not host):
        raise InputError(f"{_shown(url)} names no host git could be given safely.", hint=_FORM)
    if re.search(r"[\x00-\x20\x7f]", url) or not parts.path.strip("/"):
        raise InputError(f"{_shown(url)!r} is not a URL of a repository.", hint=_FORM)


def _vet_ref(ref: str) -> None:
    if not re.fullmatch(r"(?!-)[A-Za-z0-9._/+\-]+", ref) or ".." in ref:
        raise InputError(f"{ref!r} is not a branch, tag or commit this program fetches.", hint=_FORM)


def _vet_subdir(subdir: str) -> str:
    path = PurePosixPath(subdir)
    if path.is_absolute() or ".." in path.parts or ".git" in path.parts or re.search(r"[\x00-\x1f\\]", subdir):
        raise InputError(f"The subfolder {subdir!r} leads out of the clone.", hint="Name a folder of the repository.")
    return path.as_posix()


def clone(source: GitSource, shelf: Path, *, refresh: bool = False) -> Path:
    """The clone of ``source`` on ``shelf``, fetched only where it is not there yet or ``refresh`` is set.

    Raises:
        OutsideFailure: git is missing, or could not fetch the ref.
    """
    key = hashlib.sha256(f"{source.url}\n{source.ref or ''}".encode()).hexdigest()[:24]
    place = shelf / key
    if place.is_dir() and not refresh:
        return place
    fresh = shelf / f".{key}.{secrets.token_hex(4)}"
    try:
        shelf.mkdir(parents=True, exist_ok=True)
        _fetch(source, fresh)
        if place.is_dir():
            shutil.rmtree(place)
        fresh.rename(place)
    except OSError as error:
        if not place.is_dir():  # another process may have put the same clone there first
            raise OutsideFailure(
                f"The clone of {source.url} could not be kept in {shelf}: {error.strerror}."
            ) from error
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    return place


def _fetch(source: GitSource, into: Path) -> None:
    here = ["-C", str(into)]
    shallow = ["--quiet", "--depth", "1", "--no-tags", "--no-recurse-submodules", "--end-of-options"]
    for arguments in (
        ["init", "--quiet", str(into)],
        [*here, "fetch", *shallow, source.url, source.ref or "HEAD"],
        [*here, "checkout", "--quiet", "--detach", "FETCH_HEAD"],
    ):
        code, _, complaint = _git(arguments)
        if code != 0:
            raise OutsideFailure(
                f"git could not fetch {source.ref or 'the default branch'} of {source.url}: {_why(code, complaint)}",
                hint="Check the URL, the ref (a branch, a tag or a full commit id) and your access.",
            )


def _why(code: int, complaint: str) -> str:
    """The line that names the fault; git puts advice after it."""
    lines = complaint.strip().splitlines()
    fatal = [line for line in lines if line.startswith(("fatal:", "error:"))]
    told = (fatal or lines[-1:] or [f"exit code {code}"])[0]
    return "".join(character for character in told[:300] if character.isprintable())


def revision(folder: Path) -> tuple[str | None, bool | None]:
    """Commit of the checkout a folder stands in and whether the folder differs from it; (None, None) outside one."""
    code, commit, _ = _git(["-C", str(folder), "rev-parse", "HEAD"], check_git=False)
    if code != 0:
        return None, None
    code, tracked, _ = _git(["-C", str(folder), "ls-files", "--", "."], check_git=False)
    if code != 0 or not tracked.strip():
        return None, None  # a scratch folder that merely lies inside somebody's repository
    code, changes, _ = _git(["-C", str(folder), "status", "--porcelain", "--", "."], check_git=False)
    return commit.strip(), bool(changes.strip()) if code == 0 else None


def _git(arguments: list[str], *, check_git: bool = True) -> tuple[int, str, str]:
    quiet = {
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ALLOW_PROTOCOL": ":".join(_SCHEMES),
        "GIT_LFS_SKIP_SMUDGE": "1",
        "LC_ALL": "C",
    }
    environment = {name: value for name, value in os.environ.items() if name not in ("GIT_DIR", "GIT_WORK_TREE")}
    try:
        done = subprocess.run(
            ["git", *_SAFE, *arguments],
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=_FETCH_TIMEOUT_S,
            env=environment | quiet | {"LC_ALL": "C"},
            start_new_session=True,  # without a terminal, ssh cannot stop and ask for a passphrase
        )
    except FileNotFoundError as error:
        if not check_git:
            return 127, "", ""
        raise OutsideFailure(
            "git is not installed, and a git+ corpus needs it.", hint="Install git, or clone by hand."
        ) from error
    except subprocess.TimeoutExpired as error:
        raise OutsideFailure(f"git took more than {_FETCH_TIMEOUT_S:.0f} s and was stopped.") from error
    return done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")
