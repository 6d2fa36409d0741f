import subprocess
from pathlib import Path

import pytest

from okn_benchmark.corpus.git import GitSource
from okn_benchmark.corpus.source import bundled, bundled_names, open_corpus
from okn_benchmark.errors import InputError, OutsideFailure

RECORD = "#+ summary: What is there?\nSELECT ?s WHERE { ?s ?p ?o }\n"


def write(folder: Path, *names: str, text: str = RECORD) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def git(*arguments: str, cwd: Path) -> str:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main"]
    done = subprocess.run(["git", *identity, *arguments], cwd=cwd, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    repo = write(tmp_path / "repo", "top_low.rq")
    write(repo / "set1", "one_low.rq", "two_low.rq")
    git("init", "-q", cwd=repo)
    git("add", ".", cwd=repo)
    git("commit", "-qm", "one", cwd=repo)
    git("tag", "v2", cwd=repo)
    write(repo / "set1", "three_low.rq")
    git("add", ".", cwd=repo)
    git("commit", "-qm", "two", cwd=repo)
    return repo


def test_a_folder_in_order_of_names(tmp_path: Path) -> None:
    corpus = open_corpus(str(write(tmp_path / "c", "b_x.rq", "a_x.rq", "notes.txt", ".c_x.rq")))
    assert [record.id for record in corpus.records] == ["a_x", "b_x"]
    assert (corpus.commit, corpus.dirty, corpus.bad) == (None, None, ())


def test_bad_records_are_all_named(tmp_path: Path) -> None:
    folder = write(tmp_path / "c", "a_x.rq")
    write(folder, "b_x.rq", text="SELECT * { ?s ?p ?o }")
    (folder / "c_x.rq").write_bytes(b"#+ summary: a\n\xff\n")
    corpus = open_corpus(str(folder))
    assert [(bad.name, bad.line) for bad in corpus.bad] == [("b_x.rq", 1), ("c_x.rq", 2)]
    with pytest.raises(InputError, match=r"b_x\.rq:1.*c_x\.rq:2"):
        corpus.require_good()


def test_a_folder_of_folders_says_which(tmp_path: Path) -> None:
    write(tmp_path / "c" / "inner" / "deep", "a_x.rq")
    with pytest.raises(InputError, match="below it") as caught:
        open_corpus(str(tmp_path / "c"))
    assert "inner/deep" in str(caught.value.hint)


def test_no_such_corpus_an_empty_one_and_a_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no corpus at"):
        open_corpus(str(tmp_path / "nosuch"))
    with pytest.raises(InputError, match=r"no \.rq record"):
        open_corpus(str(write(tmp_path / "empty")))
    with pytest.raises(InputError, match="is a file"):
        open_corpus(str(write(tmp_path / "c", "a.rq") / "a.rq"))


def test_a_ref_and_a_folder_of_a_repository_reused_when_the_repository_is_gone(
    repository: Path, tmp_path: Path
) -> None:
    spec = f"git+file://{repository}@v2#set1"
    first = open_corpus(spec, tmp_path / "cache")
    commit = git("rev-parse", "v2", cwd=repository)
    repository.rename(tmp_path / "elsewhere")
    second = open_corpus(spec, tmp_path / "cache")
    for corpus in (first, second):
        assert [record.id for record in corpus.records] == ["one_low", "two_low"]
        assert (corpus.commit, corpus.dirty, corpus.source) == (commit, False, spec)


def test_a_commit_id_and_the_default_branch(repository: Path, tmp_path: Path) -> None:
    commit = git("rev-parse", "v2", cwd=repository)
    assert open_corpus(f"git+file://{repository}@{commit}#set1", tmp_path / "cache").commit == commit
    assert len(open_corpus(f"git+file://{repository}#set1", tmp_path / "cache").records) == 3


def test_refresh_fetches_again(repository: Path, tmp_path: Path) -> None:
    spec = f"git+file://{repository}#set1"
    open_corpus(spec, tmp_path / "cache")
    write(repository / "set1", "four_low.rq")
    git("add", ".", cwd=repository)
    git("commit", "-qm", "three", cwd=repository)
    assert len(open_corpus(spec, tmp_path / "cache").records) == 3
    assert len(open_corpus(spec, tmp_path / "cache", refresh=True).records) == 4


def test_a_checkout_reports_its_commit_and_whether_it_was_edited(repository: Path) -> None:
    assert open_corpus(str(repository)).dirty is False
    write(repository, "top_low.rq", text=RECORD + "# edited\n")
    corpus = open_corpus(str(repository))
    assert corpus.commit == git("rev-parse", "HEAD", cwd=repository)
    assert corpus.dirty is True


def test_a_ref_that_is_not_there(repository: Path, tmp_path: Path) -> None:
    with pytest.raises(OutsideFailure, match="nosuch"):
        open_corpus(f"git+file://{repository}@nosuch", tmp_path / "cache")
    assert not [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]


def test_a_link_out_of_a_clone_is_not_followed(repository: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("#+ summary: secret\nSELECT * {}", encoding="utf-8")
    (repository / "set1" / "leak_low.rq").symlink_to(tmp_path / "secret.txt")
    git("add", ".", cwd=repository)
    git("commit", "-qm", "link", cwd=repository)
    corpus = open_corpus(f"git+file://{repository}#set1", tmp_path / "cache")
    assert "leak_low" not in [record.id for record in corpus.records]
    assert [bad.name for bad in corpus.bad] == ["leak_low.rq"]
    assert "secret" not in corpus.bad[0].message


@pytest.mark.parametrize(
    "spec",
    [
        "git+ext::sh -c date",
        "git+http://example.org/a/b",
        "git+git://example.org/a/b",
        "git+https://example.org/a/b@-x",
        "git+https://example.org/a/b@--upload-pack=date",
        "git+https://example.org/a/b@",
        "git+https://example.org/a/b#../..",
        "git+https://example.org/a/b#/etc",
        "git+https://example.org/a/b#.git",
        "git+ssh://-oProxyCommand=date/a",
        "git+https://example.org",
        "git+file://",
    ],
)
def test_what_is_refused_before_git_runs(spec: str) -> None:
    with pytest.raises(InputError):
        GitSource.parse(spec)


def test_credentials_are_refused_and_not_repeated() -> None:
    with pytest.raises(InputError) as caught:
        GitSource.parse("git+https://me:hunter2@example.org/a/b")
    assert "hunter2" not in f"{caught.value}{caught.value.hint}"


def test_the_parts_of_a_git_source() -> None:
    source = GitSource.parse("git+ssh://git@example.org/user/repo@feature/x#a/b")
    assert (source.url, source.ref, source.subdir) == ("ssh://git@example.org/user/repo", "feature/x", "a/b")
    assert str(source) == "git+ssh://git@example.org/user/repo@feature/x#a/b"


def test_bundled_corpora_are_found_by_listing() -> None:
    for name in bundled_names():
        assert open_corpus(str(bundled(name))).records
    with pytest.raises(InputError):
        bundled("nosuch")
