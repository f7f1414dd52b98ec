"""The oldest torch by a project's requirements: each kind of file, several of them, and files that are odd."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flake8_torchrepro.project.bounds import bound_in, lower_bound
from flake8_torchrepro.project.texts import MOST_BYTES
from flake8_torchrepro.project.versions import oldest_torch

Version = tuple[int, int] | None


def oldest(root: Path, files: dict[str, str | bytes]) -> Version:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return oldest_torch(root)


@pytest.mark.parametrize(
    ("requirement", "bound"),
    [
        ("torch>=1.9", (1, 9)),
        ("torch >= 1.9 , < 3", (1, 9)),
        ("torch (>=1.9,<3)", (1, 9)),
        ("Torch>=1.9", (1, 9)),
        ("torch==1.13.1+cu117", (1, 13)),
        ("torch==1.13.*", (1, 13)),
        ("torch===1.13", (1, 13)),
        ("torch~=2.0", (2, 0)),
        ("torch>1.8", (1, 8)),
        ("torch>=2", (2, 0)),
        ("torch>=1.9.0a0", (1, 9)),
        ("torch>=1.10,!=1.12.0", (1, 10)),
        ("torch<3,>=1.8,>=1.9", (1, 9)),
        ('torch>=1.9; python_version < "3.12"', (1, 9)),
        ("torch[opt]>=1.9", (1, 9)),
        ("torch>=1.9  # for the workers", (1, 9)),
        ("torch==1.9.0 --hash=sha256:123", (1, 9)),
        ("torch==1.9.0 -f https://download.pytorch.org/whl/torch_stable.html", (1, 9)),
        ("torch @ https://download.pytorch.org/whl/cu117/torch-1.13.1%2Bcu117-cp310-cp310-linux_x86_64.whl", (1, 13)),
        ("https://download.pytorch.org/whl/cpu/torch-1.7.1%2Bcpu-cp38-cp38-linux_x86_64.whl", (1, 7)),
        ("pytorch=1.13", (1, 13)),
        ("pytorch=1.13.1=py3.9_cuda11.7_cudnn8_0", (1, 13)),
        ("pytorch::pytorch>=1.9", (1, 9)),
        ("conda-forge::pytorch-gpu=1.13.*", (1, 13)),
        ("pytorch 1.12.1 py3.9_0", (1, 12)),
        ("pytorch >=1.9,<2", (1, 9)),
        ("pytorch=1.12|1.13", (1, 12)),
        ("torch", None),
        ("torch<2", None),
        ("torch!=1.9", None),
        ("torch @ git+https://github.com/pytorch/pytorch@v1.9", None),
        ("torchvision>=0.9", None),
        ("torch-scatter>=2.0", None),
        ("torch_geometric==2.0", None),
        ("torch.nn>=1.9", None),
        ("pytorch-lightning>=1.9", None),
        ("pytorch-cuda=11.7", None),
        ("my-torch>=1.9", None),
        ("torch>=", None),
        ("torch>=new", None),
        ("torch is required", None),
        ("# torch>=1.9", None),
        ("", None),
    ],
)
def test_requirements(requirement: str, bound: Version) -> None:
    assert bound_in(requirement) == bound


@pytest.mark.parametrize(
    ("versions", "bound"),
    [
        ("^1.13", (1, 13)),
        ("~1.13", (1, 13)),
        ("1.13.1", (1, 13)),
        (">=1.9 <3", (1, 9)),
        ("^1.12 || ^2.0", (1, 12)),
        ("<1.5 || ^2.0", None),
        ("*", None),
        ("", None),
        ("~", None),
    ],
)
def test_versions_of_poetry(versions: str, bound: Version) -> None:
    assert lower_bound(versions) == bound


@given(st.text(alphabet="torch py><=!~^.*0129+[]()|,;:#@-/ '\"\nax"))
def test_no_requirement_is_too_odd(text: str) -> None:
    bound_in(text)
    bound_in("torch" + text)
    lower_bound(text)


POETRY = "[tool.poetry.dependencies]\n"
SETUP = "from setuptools import setup\n\n"

FILES: dict[str, tuple[dict[str, str | bytes], Version]] = {
    "nothing": ({}, None),
    "dependencies": ({"pyproject.toml": '[project]\ndependencies = ["numpy", "torch>=1.9"]\n'}, (1, 9)),
    "an extra": ({"pyproject.toml": '[project.optional-dependencies]\na = ["x"]\nb = ["torch>=1.10"]\n'}, (1, 10)),
    "a group": ({"pyproject.toml": '[dependency-groups]\ndev = ["torch>=2.1", {include-group = "x"}]\n'}, (2, 1)),
    "poetry": ({"pyproject.toml": POETRY + 'torch = "^1.13"\n'}, (1, 13)),
    "poetry table": ({"pyproject.toml": POETRY + 'torch = {version = "^1.13", optional = true}\n'}, (1, 13)),
    "poetry list": (
        {"pyproject.toml": POETRY + 'torch = [{version = "^1.13"}, {version = "1.12", python = "<3.8"}]\n'},
        (1, 12),
    ),
    "poetry group": ({"pyproject.toml": '[tool.poetry.group.gpu.dependencies]\ntorch = "~2.0"\n'}, (2, 0)),
    "odd shapes": (
        {"pyproject.toml": "# torch\nproject = 1\n[tool.poetry]\ngroup = []\n[tool.poetry.dependencies]\ntorch = 1\n"},
        None,
    ),
    "odd lists": ({"pyproject.toml": '[project]\ndependencies = "torch>=1.9"\noptional-dependencies = [1]\n'}, None),
    "not toml": ({"pyproject.toml": "torch ][", "requirements.txt": "torch>=1.9"}, (1, 9)),
    "requirements": ({"requirements.txt": "-i https://x\n\n# a\nnumpy\ntorch>=1.9 # b\n"}, (1, 9)),
    "requirements-dev": ({"requirements-dev.txt": "torch>=1.9\n"}, (1, 9)),
    "requirements folder": ({"requirements/gpu.txt": "torch>=1.9\n"}, (1, 9)),
    "requirements.in": ({"requirements.in": "torch>=1.9\n"}, (1, 9)),
    "continued line": ({"requirements.txt": "torch==1.9 \\\n  --hash=sha256:1\n"}, (1, 9)),
    "included": (
        {"requirements.txt": "-r deps/a.list\n", "deps/a.list": "-r b.list", "deps/b.list": "torch>1.8"},
        (1, 8),
    ),
    "constraints": ({"requirements.txt": "torch\n--constraint=pins", "pins": "torch==1.9"}, (1, 9)),
    "included in a circle": ({"requirements.txt": "-r requirements.txt\n-r ./x\ntorch>=1.9", "x": "-r x"}, (1, 9)),
    "included from nowhere": ({"requirements.txt": "-r none.txt\n-r https://x/y.txt\n-r\ntorch>=1.9"}, (1, 9)),
    "utf-16": ({"requirements.txt": "torch==1.9.0\r\n".encode("utf-16")}, (1, 9)),
    "latin-1": ({"requirements.txt": "# für\ntorch==1.9.0\n".encode("latin-1")}, (1, 9)),
    "not text": ({"requirements.txt": bytes(range(256))}, None),
    "huge": ({"requirements.txt": "torch>=1.9\n" + "#" * MOST_BYTES}, None),
    "setup.cfg": ({"setup.cfg": "[options]\ninstall_requires =\n  numpy\n  torch>=1.9\n"}, (1, 9)),
    "setup.cfg extra": ({"setup.cfg": "[options.extras_require]\nall =\n  torch>=1.9 ; python_version>'3'\n"}, (1, 9)),
    "setup.cfg without options": ({"setup.cfg": "[metadata]\nname = torch\n"}, None),
    "not setup.cfg": ({"setup.cfg": "torch>=1.9\n"}, None),
    "setup.py": ({"setup.py": SETUP + 'setup(install_requires=["numpy", "torch>=1.9"])\n'}, (1, 9)),
    "setup.py text": ({"setup.py": SETUP + 'setup(install_requires="""numpy\ntorch>=1.9\n""")\n'}, (1, 9)),
    "setup.py names": ({"setup.py": SETUP + 'NEED = ["torch>=1.9"]\nsetup(extras_require={"x": NEED})\n'}, (1, 9)),
    "setup.py dict": ({"setup.py": SETUP + 'setup(extras_require={"x": ["torch~=1.9"]})\n'}, (1, 9)),
    "setup.py f-string": ({"setup.py": 'low = "9"\nneed = [f"torch>=1.1{low}", "torch"]\n'}, None),
    "setup.py escapes": ({"setup.py": 'x = "\\d"\nneed = "torch>=1.9"\n'}, (1, 9)),
    "python 2": ({"setup.py": 'print "x"\nneed = "torch>=1.9"\n'}, None),
    "deep": ({"setup.py": "torch = " + "-" * 50_000 + "1\n"}, None),
    "conda": ({"environment.yml": "channels:\n- pytorch\ndependencies:\n- python=3.9\n- pytorch=1.13\n"}, (1, 13)),
    "conda quotes": ({"environment.yaml": "dependencies:\n  - 'pytorch>=1.9'  # x\n"}, (1, 9)),
    "conda pip": ({"environment-gpu.yml": "dependencies:\n  - pip:\n    - torch==1.13.1+cu117\n"}, (1, 13)),
    "conda pip file": (
        {"environment.yml": "dependencies:\n  - pip:\n    - -r need.list\n", "need.list": "torch>1.8"},
        (1, 8),
    ),
    "only upper bounds": (
        {"requirements.txt": "torch<2\n", "setup.cfg": "[options]\ninstall_requires = torch!=1.9"},
        None,
    ),
    "several files": (
        {
            "requirements.txt": "torch==2.0.1\n",
            "setup.py": 'need = ["torch>=1.9"]\n',
            "environment.yml": "dependencies:\n- pytorch=2.1\n",
        },
        (1, 9),
    ),
    "1.10 is newer than 1.9": ({"requirements.txt": "torch>=1.10\n", "requirements/x.txt": "torch>=1.9\n"}, (1, 9)),
    "elsewhere": ({"docs/requirements.txt": "torch>=1.4\n", "sub/setup.py": 'x = "torch>=1.2"\n'}, None),
}


@pytest.mark.parametrize("kind", FILES)
def test_files(tmp_path: Path, kind: str) -> None:
    files, version = FILES[kind]
    assert oldest(tmp_path, files) == version


def test_nothing_outside_the_root_is_read(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (tmp_path / "need.txt").write_text("torch>=1.9\n")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "need.txt").write_text("torch>=1.9\n")
    root.mkdir()
    (root / "requirements-linked.txt").symlink_to(tmp_path / "need.txt")
    (root / "requirements").symlink_to(tmp_path / "folder", target_is_directory=True)
    assert oldest(root, {"requirements.txt": f"-r ../need.txt\n-r {tmp_path / 'need.txt'}\n"}) is None


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_what_is_not_a_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "requirements.txt")
    (tmp_path / "pyproject.toml").mkdir()
    (tmp_path / "setup.py").symlink_to("setup.py")
    assert oldest_torch(tmp_path) is None


def test_a_root_that_is_not_there(tmp_path: Path) -> None:
    assert oldest_torch(tmp_path / "none") is None


def test_no_code_is_run(tmp_path: Path) -> None:
    text = f"open({str(tmp_path / 'ran')!r}, 'w')\nneed = ['torch>=1.9']\n"
    assert oldest(tmp_path, {"setup.py": text}) == (1, 9)
    assert not (tmp_path / "ran").exists()
