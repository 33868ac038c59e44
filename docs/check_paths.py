"""Checks the Markdown files: what a relative link leads to exists, and so does each path that is named in backticks."""

import re
import subprocess
import sys
from pathlib import Path

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
PATH = re.compile(r"`((?:\.ci|arch|bench|cmake|docs|include|src|tests|tools)/[\w./+-]*)`")


def github_anchor(heading):
    """The fragment that a heading gets."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def anchors(text):
    return {github_anchor(heading) for heading in re.findall(r"^#+ (.*)$", text, re.MULTILINE)}


def faults(root, file):
    text = (root / file).read_text(encoding="utf-8")
    found = []
    for target in LINK.findall(text):
        if "://" in target:
            continue
        path, _, anchor = target.partition("#")
        place = (root / file).parent / path if path else root / file
        if not place.exists():
            found.append(f"{file}: link to {target}: there is no {path}")
        elif anchor and anchor not in anchors(place.read_text(encoding="utf-8")):
            found.append(f"{file}: link to {target}: no such heading")
    found += [f"{file}: names {path}: there is no such file or folder"
              for path in PATH.findall(text) if not (root / path).exists()]
    return found


def main():
    root = Path(sys.argv[1])
    files = subprocess.run(["git", "ls-files", "*.md"], cwd=root, capture_output=True, text=True, check=False)
    names = files.stdout.split() or [path.relative_to(root) for folder in (".", "arch", "bench", "docs")
                                     for path in sorted((root / folder).glob("*.md"))]
    found = [fault for name in names for fault in faults(root, name)]
    if not names:
        found = [f"{root}: no Markdown files"]
    print("\n".join(found))
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
