"""Print a random sample of the project's prose for readers who do not know the code.

    python tests/sample_prose.py [COMMIT] [--blocks 150]

The script reads the files of the commit. The full hash of the commit seeds the random choice, so
anyone can draw the same sample again. Each directory contributes at least one block. Apart from
that, the sample is proportional to the number of blocks in each directory.
"""

import argparse
import ast
import io
import random
import re
import subprocess
import tarfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import PurePath
from textwrap import dedent

from prose import ROOT, Block, blocks


def git(*words: str) -> bytes:
    """Return the output of a git command."""
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, check=True).stdout


def files(commit: str) -> Iterator[tuple[str, str]]:
    """Yield (path, text) for each source file and documentation page of a commit."""
    with tarfile.open(fileobj=io.BytesIO(git("archive", commit))) as archive:
        for member in archive:
            if re.search(r"(\.(py|cu|cuh|h|cpp|md|toml)|Makefile)$", member.name):
                content = archive.extractfile(member)
                assert content is not None
                yield member.name, content.read().decode()


def readable(path: str, text: str) -> Iterator[Block]:
    """Yield the blocks that a sample may contain; paragraphs of a page are split into sentences."""
    for block in blocks(path, text):
        if block.kind != "docs" or block.text.lstrip().startswith("|"):
            yield block
        else:
            joined = " ".join(block.text.split())
            for sentence in re.split(r"(?<=[.!?:])\s+(?=[A-Z`*\[])", joined):
                yield block._replace(text=sentence)
    if path.endswith(".py"):
        yield from help_texts(path, text)
        if PurePath(path).name.startswith("test_"):
            for function in re.findall(r"^ *def test_(\w+)", text, re.M):
                yield Block(0, "test name", path, function.replace("_", " "))


def help_texts(path: str, text: str) -> Iterator[Block]:
    """Yield the help texts of command lines, and every string of `graphla.cli`."""
    nodes = list(ast.walk(ast.parse(text)))
    skipped = {node.value for node in nodes if isinstance(node, ast.Expr)}  # docstrings
    wanted: list[ast.expr] = []
    for node in nodes:
        if isinstance(node, ast.Call):
            wanted += [k.value for k in node.keywords if k.arg in ("help", "description", "epilog")]
        elif isinstance(node, ast.JoinedStr):
            skipped.update(node.values)
        if isinstance(node, ast.expr) and path.startswith("graphla/cli/"):
            wanted.append(node)
    for value in wanted:
        shown = ""
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            shown = value.value
        elif isinstance(value, ast.JoinedStr):
            shown = re.sub(r"^f['\"]|['\"]$", "", ast.unparse(value))
        if shown and value not in skipped and not shown.startswith("graphla "):
            yield Block(value.lineno, "command line text", path, shown)


def is_prose(block: Block) -> bool:
    """Return whether a block contains at least three words outside code.

    In a row of a table, words with fewer than three letters do not count, as most are units.
    """
    plain = re.sub(r"`[^`]*`|\S*[_/=<>()]\S*", "", block.text)
    shortest = 3 if block.text.lstrip().startswith("|") else 2
    return block.kind == "test name" or len(re.findall(rf"[^\W\d_]{{{shortest},}}", plain)) >= 3


def room(path: str) -> str:
    """Return the directory of a file, because each directory contributes blocks to the sample."""
    return str(PurePath(path).parent)


def draw(commit: str, count: int) -> list[tuple[str, Block]]:
    """Return `count` blocks of the commit with their paths, in random order."""
    rooms = defaultdict(list)
    for path, text in files(commit):
        unique = dict.fromkeys(block for block in readable(path, text) if is_prose(block))
        rooms[room(path)] += [(path, block) for block in unique]
    rooms = {name: found for name, found in sorted(rooms.items()) if found}
    choice = random.Random(commit)
    total = sum(map(len, rooms.values()))
    shares = {name: max(1.0, count * len(found) / total) for name, found in rooms.items()}
    quota = {name: int(share) for name, share in shares.items()}
    by_remainder = sorted(rooms, key=lambda name: quota[name] - shares[name])
    for name in by_remainder[: max(0, count - sum(quota.values()))]:
        quota[name] += 1
    drawn = [pick for name, found in rooms.items() for pick in choice.sample(found, quota[name])]
    choice.shuffle(drawn)
    return drawn[:count]


def main() -> None:
    """Print the sample."""
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument(
        "commit", nargs="?", default="HEAD", help="the commit whose text is sampled"
    )
    options.add_argument("--blocks", type=int, default=150, help="number of blocks (default: 150)")
    options.add_argument(
        "--places", action="store_true", help="also print the file and line of each block"
    )
    chosen = options.parse_args()
    commit = git("rev-parse", "--verify", f"{chosen.commit}^{{commit}}").decode().strip()
    for number, (path, block) in enumerate(draw(commit, chosen.blocks), 1):
        place = f"  [{path}:{block.line}]" if chosen.places else ""
        print(f"{number}. {block.kind} of: {block.subject}{place}\n")
        first, _, rest = block.text.partition("\n")
        print(
            "\n".join("    " + line for line in [first, *dedent(rest).splitlines()]).rstrip() + "\n"
        )


if __name__ == "__main__":
    main()
