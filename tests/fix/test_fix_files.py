"""Files are read as Python reads them and written without harm."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from flake8_torchrepro.fix.files import FileProblem, read_file, write_atomically

TEXTS = [
    "a = 'é'\n".encode(),
    b"\xef\xbb\xbfa = 1\r\n",
    "# coding: latin-1\na = 'é'\r".encode("latin-1"),
    "#!/bin/python\n# -*- coding: cp1252 -*-\na = '€'".encode("cp1252"),
    b"a\r\nb\nc\x0c\n",
    b"",
]


def written(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("data", TEXTS)
def test_what_is_read_is_written(tmp_path: Path, data: bytes) -> None:
    path = written(tmp_path / "a.py", data)
    file = read_file(path)
    assert (file.path, file.data) == (path, data)
    assert not file.text.startswith("\ufeff")
    write_atomically(path, file.text + "# end", data)
    assert path.read_bytes() == data + b"# end"
    assert os.listdir(tmp_path) == ["a.py"]


def test_line_ends_are_not_translated(tmp_path: Path) -> None:
    assert read_file(written(tmp_path / "a.py", b"a\r\nb\rc\n")).text == "a\r\nb\rc\n"


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"a = '\xe9'\n", "cannot be decoded"),
        (b"a\nb\nc = '\xe9'\n", "is not utf-8 text"),
        (b"# coding: utf-8\n\n\na = '\xe9'\n", "is not utf-8 text"),
        (b"# coding: nothing\n# '\xe9'\n", "cannot be decoded: unknown encoding"),
        (b"# coding: rot13\n", "rot13 is not an encoding of text"),
        (b"\xef\xbb\xbf# coding: latin-1\n", "cannot be decoded"),
        (b"a\0b\n", "has NUL bytes"),
    ],
)
def test_files_that_are_not_source(tmp_path: Path, data: bytes, problem: str) -> None:
    path = written(tmp_path / "a.py", data)
    with pytest.raises(FileProblem, match=problem) as caught:
        read_file(path)
    assert caught.value.path == path
    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)


def test_files_that_are_not_there(tmp_path: Path) -> None:
    (tmp_path / "link.py").symlink_to("nowhere.py")
    os.mkfifo(tmp_path / "pipe")
    for name, problem in [
        ("link.py", "is a broken link"),
        ("nowhere.py", "does not exist"),
        (".", "is a directory"),
        ("pipe", "is not a regular file"),
    ]:
        with pytest.raises(FileProblem, match=problem):
            read_file(tmp_path / name)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(tmp_path: Path) -> None:
    path = written(tmp_path / "a.py", b"a\n")
    path.chmod(0)
    with pytest.raises(FileProblem, match="cannot be read: Permission denied"):
        read_file(path)


def test_permissions_stay(tmp_path: Path) -> None:
    path = written(tmp_path / "a.py", b"a\n")
    path.chmod(0o751)
    write_atomically(path, "b\n", b"a\n")
    assert stat.S_IMODE(path.stat().st_mode) == 0o751


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    real = written(tmp_path / "real" / "a.py", b"a\n")
    link = tmp_path / "b.py"
    link.symlink_to(Path("real") / "a.py")
    write_atomically(link, "b\n", read_file(link).data)
    assert link.is_symlink()
    assert real.read_bytes() == b"b\n"
    assert sorted(os.listdir(tmp_path)) == ["b.py", "real"]


def test_a_file_that_has_changed_is_not_overwritten(tmp_path: Path) -> None:
    path = written(tmp_path / "a.py", b"new\n")
    with pytest.raises(FileProblem, match="has changed on disk meanwhile"):
        write_atomically(path, "b\n", b"old\n")
    assert path.read_bytes() == b"new\n"
    path.unlink()
    with pytest.raises(FileProblem, match="does not exist"):
        write_atomically(path, "b\n", b"new\n")
    assert os.listdir(tmp_path) == []


def test_text_that_the_encoding_lacks(tmp_path: Path) -> None:
    data = b"# coding: latin-1\n"
    path = written(tmp_path / "a.py", data)
    with pytest.raises(FileProblem, match="cannot be written in iso-8859-1"):
        write_atomically(path, data.decode() + "# €\n", data)
    assert path.read_bytes() == data


def test_a_failure_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(source: object, target: object) -> None:
        raise OSError(28, "No space left on device")

    path = written(tmp_path / "a.py", b"a\n")
    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(FileProblem, match="cannot be written: No space left on device"):
        write_atomically(path, "b\n", b"a\n")
    assert os.listdir(tmp_path) == ["a.py"]
    assert path.read_bytes() == b"a\n"
