#!/usr/bin/env python3
"""The cells of examples/notebook run in their order, and what the last lines of cells are shows itself as HTML where a notebook asks for it."""
import ast
import json
import os
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def shown(source, names):
    """Runs a cell. The value of its last line, if that is an expression."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), names)
    return None if last is None else eval(compile(ast.Expression(last.value), "cell", "eval"), names)


def main():
    os.chdir(ROOT)
    notebook = json.loads((ROOT / "examples/notebook/strew.ipynb").read_text())
    names, pages = {"__name__": "__main__"}, []
    for cell in notebook["cells"]:
        if cell["cell_type"] != "code":
            continue
        value = shown("".join(cell["source"]), names)
        if hasattr(value, "_repr_html_"):
            pages.append(value._repr_html_())
    expected = ["<table>", "<table>", "<iframe"]
    wrong = [part for part, page in zip(expected, pages) if part not in page or "strew1" not in page and part == "<table>"]
    print(f"notebook_test: {len(pages)} values as HTML, {len(wrong)} wrong")
    return 0 if len(pages) == len(expected) and not wrong else 1


if __name__ == "__main__":
    sys.exit(main())
