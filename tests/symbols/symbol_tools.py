"""Runs nm and readelf for the symbol checks; a tool that fails, or says nothing, is an error."""

import re
import subprocess
from collections import namedtuple
from pathlib import Path

Symbol = namedtuple("Symbol", "name kind")


class ToolError(Exception):
    """A tool failed, so nothing is known about the symbols."""


def run(command):
    """The output of a command that must succeed, complain of nothing and print something."""
    try:
        result = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        raise ToolError(f"{command[0]}: {error.strerror}") from error
    if result.returncode != 0 or result.stderr:
        raise ToolError(f"{' '.join(command)}: exit status {result.returncode}: {result.stderr.strip()}")
    if not result.stdout.strip():
        raise ToolError(f"{' '.join(command)}: no output")
    return result.stdout


def read_symbols(nm, binary, *options):
    """The symbols of an object or library as nm lists them: mangled name and one letter for the kind."""
    if not Path(binary).is_file():
        raise ToolError(f"{binary}: no such file")
    symbols = []
    for line in run([nm, "--format=posix", *options, str(binary)]).splitlines():
        fields = line.split()
        if len(fields) < 2 or not re.fullmatch(r"[A-Za-z?-]", fields[1]):
            raise ToolError(f"{nm}: a line that names no symbol: {line!r}")
        symbols.append(Symbol(fields[0], fields[1]))
    return symbols


def read_sections(readelf, binary):
    """The names of the sections of an object."""
    output = run([readelf, "--sections", "--wide", str(binary)])
    sections = re.findall(r"^\s*\[\s*\d+\]\s+(\.\S+)", output, re.MULTILINE)
    if not sections:
        raise ToolError(f"{readelf}: no sections in its output for {binary}")
    return sections
