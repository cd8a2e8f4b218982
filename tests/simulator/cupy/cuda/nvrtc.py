"""A stand-in for cupy.cuda.nvrtc that compiles with g++."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from ... import toolchain


class NVRTCError(RuntimeError):
    """Replaces the exception of the same name in CuPy."""

    names: ClassVar = {5: "NVRTC_ERROR_INVALID_OPTION", 6: "NVRTC_ERROR_COMPILATION"}

    def __init__(self, status: int):
        self.status = status
        super().__init__(f"{self.names.get(status, 'NVRTC_ERROR')} ({status})")

    def __reduce__(self):
        return (type(self), (self.status,))


@dataclass
class _Program:
    text: str
    name: str
    headers: dict[str, str]
    expressions: list[str] = field(default_factory=list)
    log: str = ""
    image: bytes = b""


_programs: dict[int, _Program] = {}
_handles = itertools.count(1)


def _text(value: str | bytes) -> str:
    return value.decode() if isinstance(value, bytes) else value


def getVersion() -> tuple[int, int]:
    """Return a version that NVRTC never has, so no cache mixes programs from the two compilers."""
    return (13, 1_000_000 + int(toolchain.digest()[:6], 16))


def getSupportedArchs() -> tuple[int, ...]:
    return (75, 80, 86, 87, 88, 89, 90, 100, 103, 110, 120, 121)


def createProgram(src, name, headers, include_names) -> int:
    names = map(_text, include_names)
    known = dict(zip(names, map(_text, headers), strict=True))
    handle = next(_handles)
    _programs[handle] = _Program(_text(src), _text(name), known)
    return handle


def destroyProgram(prog: int) -> None:
    del _programs[prog]


def addNameExpression(prog: int, name: str) -> int:
    _programs[prog].expressions.append(_text(name))
    return 0


def _lowered(expression: str) -> str:
    words = "".join(c if c.isalnum() else "_" for c in expression.split("<")[0])
    return f"simulator_{words}_{hashlib.sha256(expression.encode()).hexdigest()[:12]}"


def getLoweredName(prog: int, name: str) -> str:
    if _text(name) not in _programs[prog].expressions or not _programs[prog].image:
        raise NVRTCError(10)
    return _lowered(_text(name))


def getCUBIN(prog: int) -> bytes:
    return _programs[prog].image


def getProgramLog(prog: int) -> str:
    return _programs[prog].log


_IGNORED = (
    *("-std", "--std", "-ftz", "-fmad", "-prec", "-default-device", "-arch", "-lineinfo"),
    *("--gpu-architecture", "--device-as-default-execution-space", "-G", "--fmad", "--ftz"),
    *("-restrict", "--restrict", "-Xptxas", "--ptxas-options", "-maxrregcount", "--maxrregcount"),
    *("-extra-device-vectorization", "-use_fast_math", "--use_fast_math", "-w", "-diag"),
    *("--diag", "-ewp", "-optimization-info", "--generate-line-info", "-v", "--prec-"),
)


def _options(options: Sequence[str | bytes]) -> tuple[list[str], list[str], str]:
    """Return the #define lines, the -I folders, and the first option unknown to NVRTC."""
    lines: list[str] = []
    folders: list[str] = []
    given = iter(map(_text, options))
    for option in given:
        if option in ("-I", "-D"):
            option += next(given)
        if option.startswith("--include-path="):
            option = "-I" + option.removeprefix("--include-path=")
        if option.startswith("--define-macro="):
            option = "-D" + option.removeprefix("--define-macro=")
        if option.startswith("-I"):
            folders.append(option[2:])
        elif option.startswith("-D"):
            name, _, value = option[2:].partition("=")
            lines.append(f"#define {name} {value or ('' if '=' in option else 1)}")
        elif option in ("-Xptxas", "--ptxas-options"):
            next(given, None)
        elif not option.startswith(_IGNORED):
            return lines, folders, option
    return lines, folders, ""


def compileProgram(prog: int, options: Sequence[str | bytes]) -> None:
    program = _programs[prog]
    lines, folders, unknown = _options(options)
    if unknown:
        program.log = f"nvrtc: error: unrecognized option {unknown} found\n"
        raise NVRTCError(5)
    version = f"simulator_version_{toolchain.digest()}"
    entries = [
        f'#line 1 "{each}"\nSIMULATOR_ENTRY({_lowered(each)}, {each})'
        for each in dict.fromkeys(program.expressions)
    ]
    text = "\n".join(
        (
            *lines,
            f'#line 1 "{program.name}"',
            program.text,
            *entries,
            f'extern "C" const char {version};',
            f'extern "C" const char *simulator_made_for() {{ return &{version}; }}\n',
        )
    )
    try:
        program.image = toolchain.compile_program(text, program.headers, tuple(folders))
    except toolchain.CompileError as error:
        program.log = str(error)
        raise NVRTCError(6) from None
