"""Find wording that the project avoids in comments, docstrings and Markdown.

    python tests/prose.py [PATH ...]    # all files that git tracks, unless paths are given

Code blocks, doctests and text between backticks are skipped. If a line must use wording that the
project avoids, a note on the same line gives the reason: `# prose: REASON` or
`<!-- prose: REASON -->`.
"""

import ast
import io
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]

# Maps each avoided expression to advice on what to write. A space also matches a line break.
PATTERNS = {
    r"(?<!there\s)\b(is|are|was|were) no\b(?!-| (longer|more|less|fewer|other|later|earlier"
    r"|greater|larger|smaller|wider|better|worse|shorter|higher|lower)\b)": "is not a",
    r"\bso many\b(?!( [\w`]+){0,4} that\b)": "`n`, up to `n`",
    r"(?<!look-)\balike\b": "equally, as well",
    r"\bbeside\b": "next to, in addition to, compared with",
    r"\b(is|are|was|were|be|been) told\b|\bsays? of\b": "reports, records, documents",
    r"\b(whoever|whosoever|somebody)\b": "name the thing",
    r"\b(but|save) for\b": "except",
    r"\bof theirs\b": "rephrase",
    r"\bby turns\b": "alternately, round-robin",
    r"\b(comes?|came) to rest\b": "converges",
    r"\bin vain\b": "without success",
    r"\bwhatever (it|they) be\b": "any",
    r"\b(that|which) (it|they) (has|have) not\b": "that it lacks",
    r"\bno more than so many\b": "at most",
    r"\brefus(e|es|ed|ing)\b(?! to\b)": "reject",
    r"\b(colour|neighbour|behaviour|favour|honour|flavour|rumour)\w*": "American spelling",
    r"\b(centre|metre|litre|fibre)(s|d|line)?\b": "American spelling",
    r"\b(label|model|travel|cancel|signal|channel|tunnel|total)l(ed|ing|er|ers)\b": "one l",
    r"\b(optim|normal|initial|minim|maxim|general|special|organ|recogn|summar|parallel|vector"
    r"|serial|synchron|symmetr|random|factor|util|real|material|privat|local|penal|stabil"
    r"|custom|final|memor|canonical|tabul|visual|equal|linear)is(e|es|ed|er|ers|ing|ation"
    r"|ations)\b": "-ize",
    r"\b(analys|catalys|paralys)(e|ed|es|ing)\b(?<!analyses)": "-yze",
    r"\b(grey|licence|defence|artefact|judgement|programme|whilst|amongst|learnt|spelt)s?\b": (
        "American spelling"
    ),
}
AVOIDED = {re.compile(p.replace(" ", r"\s+"), re.I): better for p, better in PATTERNS.items()}

# Matches comments that are directives for a tool.
DIRECTIVE = re.compile(r"#!|#\s*(noqa|type:|pyright:|ruff:|fmt:|pragma)|//\s*(clang-format|NOLINT)")


class Block(NamedTuple):
    """A piece of prose: its first line number, its kind, the code it describes, and its text.

    `text` has as many lines as the block has in the file.
    """

    line: int
    kind: str
    subject: str
    text: str


def blocks(path: str, text: str) -> Iterator[Block]:
    """Yield the blocks of prose of one file."""
    if path.endswith(".py"):
        yield from docstrings(text)
        yield from python_comments(text)
    elif path.endswith((".cu", ".cuh", ".h", ".cpp")):
        yield from cuda_comments(text)
    elif path.endswith(".md"):
        yield from paragraphs(path, text)
    elif Path(path).name in ("Makefile", "pyproject.toml"):
        yield from grouped(list(hash_comments(text)), text.splitlines())


def docstrings(text: str) -> Iterator[Block]:
    """Yield the docstrings of modules, classes and functions, and of assignments."""
    for node in ast.walk(ast.parse(text)):
        body = getattr(node, "body", None)
        if not isinstance(body, list):
            continue
        for before, statement in pairwise([None, *body]):
            value = statement.value if isinstance(statement, ast.Expr) else None
            if not (isinstance(value, ast.Constant) and isinstance(value.value, str)):
                continue
            named = isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
            if before is not None:
                subject = ast.unparse(before).splitlines()[0]
            else:
                subject = node.name if named else "the module"
            # Take the text from the source file, because an evaluated escape sequence could change
            # the number of lines.
            written = ast.get_source_segment(text, value) or ""
            written = re.sub(r'^[rRuU]?("""|\'\'\'|"|\')|("""|\'\'\'|"|\')$', "", written)
            yield Block(value.lineno, "docstring", subject, written)


def python_comments(text: str) -> Iterator[Block]:
    """Yield the comments of a Python file; comments on successive lines are one block."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    found = [
        (token.start[0], token.string)
        for token in tokens
        if token.type == tokenize.COMMENT and not DIRECTIVE.match(token.string)
    ]
    yield from grouped(found, text.splitlines())


def hash_comments(text: str) -> Iterator[tuple[int, str]]:
    """Yield (line, comment) for each line that is a comment of a Makefile or a TOML file."""
    for number, line in enumerate(text.splitlines(), 1):
        if re.match(r"\s*#", line):
            yield number, line.strip()


def cuda_comments(text: str) -> Iterator[Block]:
    """Yield the comments of a C++ file; `//` comments on successive lines are one block."""
    found, long = [], []
    token = r"""R"\w*\(.*?\)\w*"|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])'|//[^\n]*|/\*.*?\*/"""
    for match in re.finditer(token, text, re.S):
        line = text.count("\n", 0, match.start()) + 1
        if match[0].startswith("//"):
            found.append((line, match[0].rstrip()))
        elif match[0].startswith("/*"):
            long.append(Block(line, "comment", "the code below", match[0].strip("/*")))
    yield from long
    found = [(line, comment) for line, comment in found if not DIRECTIVE.match(comment)]
    yield from grouped(found, text.splitlines())


def grouped(comments: list[tuple[int, str]], lines: list[str]) -> Iterator[Block]:
    """Join comments on successive lines that begin in the same column, except section headings.

    Yield each group with the code that it describes. This is the code before the comment on the
    same line, or, without such code, the line below.
    """
    group: list[tuple[int, str]] = []
    for line, comment in [*comments, (0, "")]:
        alone = line > 0 and lines[line - 1].lstrip().startswith(comment)
        if group:
            last, head = group[-1]
            joins = alone and line == last + 1 and not re.search("-{3,}", head + comment)
            before, here = lines[group[0][0] - 1], lines[line - 1] if line else ""
            if not (joins and before.rfind(group[0][1]) == here.rfind(comment)):
                yield from described(group, lines)
                group = []
        group.append((line, comment))


def described(group: list[tuple[int, str]], lines: list[str]) -> Iterator[Block]:
    """Yield a group of comments as one block, unless the group contains no words."""
    first, last = group[0][0], group[-1][0]
    here = lines[first - 1].removesuffix(group[0][1]).strip()
    below = next((code.strip() for code in lines[last:] if code.strip()), "the end")
    words = [re.sub(r"^(#+:?|/{2,}<?)\s?(-{3,} )?|-{3,}$", "", each) for _, each in group]
    if re.search(r"[^\W\d_]{2}", " ".join(words)):
        subject = "the file" if first == 1 else here or below
        kind = "comment"
        if re.search("-{3,}", group[0][1]):
            kind, subject = "section heading", f"the section that begins with {below}"
        yield Block(first, kind, subject, "\n".join(words))


def paragraphs(path: str, text: str) -> Iterator[Block]:
    """Yield the paragraphs, headings, list items and table rows of a Markdown file."""
    fence, heading, start, held = "", path, 0, []
    for number, line in enumerate([*text.splitlines(), ""], 1):
        mark = re.match(r"\s*(```+|~~~+)", line)
        bare = re.fullmatch(r"\s*(\|[\s|:-]*)?", line)
        new = re.match(r"\s*(#+ |[-*] |\d+\. |\|)", line)
        if (mark or fence or bare or new) and held:
            yield Block(start, "docs", heading, "\n".join(held))
            held = []
        if mark and (not fence or line.strip() == fence):
            fence = "" if fence else mark[1]
        elif not (fence or bare):
            start, held = (number, [line]) if not held else (start, [*held, line])
            heading = line.strip("# ") if line.startswith("#") else heading


def without_code(text: str) -> str:
    """Return the text with all code replaced by `x`; the number of lines stays the same."""
    text = re.sub(r"^\s*(>>>|\.\.\.).*", "", text, flags=re.M)
    text = re.sub(r"(`+)(?!`)([^`]+)\1", lambda m: "x" + "\n" * m[0].count("\n"), text)
    text = re.sub(r"\]\([^)\s]*\)", "]", text)
    return re.sub(r"\S*\w[_/.=]\w\S*", "x", text)


def hits(path: str, text: str) -> Iterator[tuple[int, str, str]]:
    """Yield (line, words, advice) for each use of an avoided expression."""
    for block in blocks(path, text):
        prose, lines = without_code(block.text), block.text.split("\n")
        for pattern, better in AVOIDED.items():
            for match in pattern.finditer(prose):
                first = prose.count("\n", 0, match.start())
                last = prose.count("\n", 0, match.end())
                if not any(re.search(r"prose: \S", line) for line in lines[first : last + 1]):
                    yield block.line + first, " ".join(match[0].split()), better


def tracked() -> list[str]:
    """Return the paths of all files that git tracks, relative to the root."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, check=True)
    return listed.stdout.decode().splitlines()


def main(paths: list[str]) -> int:
    """Print the uses of avoided expressions; return 1 if there are any."""
    status = 0
    for path in paths or tracked():
        if not path.endswith((".py", ".cu", ".cuh", ".h", ".cpp", ".md", "Makefile", ".toml")):
            continue
        text = (ROOT / path).read_text(encoding="utf-8")
        for line, words, better in sorted(hits(path, text)):
            print(f"{path}:{line}: “{words}”: write: {better}")
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
