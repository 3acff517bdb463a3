#!/usr/bin/env python3
"""Draws the table of `./dev bench sweep` as a picture: python3 bench/costs/picture.py SWEEP.txt >docs/costs.svg

A cell is a case: its colour is the chosen schedule's time over the best candidate's. Columns are numbers of positions and sizes of tables, rows
are row sizes; one block for each of added and gathered, random and sorted, one thread and two.
"""
import re
import sys

LINE = re.compile(r"^(add|get)_(\d+)B_(\d+)K_(\d+)(_sorted)?\s+(\d)\s.*?\s([\d.]+)\s+[\d.]+\.\.[\d.]+\s")
CELL, GAP, LEFT, TOP = 30, 40, 80, 60


def colour(ratio):
    """White at 1, yellow at 1.2, red at 1.5 and beyond."""
    if ratio <= 1.2:
        return f"rgb(255,255,{round(255 - 155 * max(0, ratio - 1) / 0.2)})"
    return f"rgb(255,{round(255 - 195 * min(1, (ratio - 1.2) / 0.3))},100)"


def size(kib):
    return f"{kib} K" if kib < 1024 else f"{kib // 1024} M"


def main():
    cells = {}
    for line in open(sys.argv[1], encoding="utf-8"):
        if found := LINE.match(line):
            action, row, table, positions, in_order, threads, ratio = found.groups()
            cells[action, bool(in_order), int(threads), int(row), int(table), int(positions)] = float(ratio)
    if not cells:
        sys.exit(f"{sys.argv[1]} has no lines of a sweep")
    rows, tables, counts = (sorted({key[i] for key in cells}) for i in (3, 4, 5))
    blocks = sorted({key[:3] for key in cells})
    width, height = LEFT + len(tables) * len(counts) * CELL + GAP, len(rows) * CELL + GAP + TOP
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{2 * width}" height="{(len(blocks) + 1) // 2 * height}" '
           'font-family="sans-serif" font-size="11">', '<rect width="100%" height="100%" fill="#fff"/>']
    for number, block in enumerate(blocks):
        x0, y0 = LEFT + number % 2 * width, TOP + number // 2 * height
        title = f"{'gathered' if block[0] == 'get' else 'added'}, {'sorted' if block[1] else 'random'}, {block[2]} thread{'s' * (block[2] > 1)}"
        out.append(f'<text x="{x0}" y="{y0 - 36}" font-size="13">{title}</text>')
        for t, table in enumerate(tables):
            out.append(f'<text x="{x0 + t * len(counts) * CELL}" y="{y0 - 20}">table {size(table)}</text>')
            for c, count in enumerate(counts):
                x = x0 + (t * len(counts) + c) * CELL
                out.append(f'<text x="{x + 2}" y="{y0 - 6}" font-size="9">{count:.0e}</text>'.replace("e+0", "e"))
                for r, row in enumerate(rows):
                    ratio = cells.get((*block, row, table, count))
                    if ratio is None:
                        continue
                    y = y0 + r * CELL
                    out.append(f'<rect x="{x}" y="{y}" width="{CELL - 1}" height="{CELL - 1}" fill="{colour(ratio)}" stroke="#ccc"/>')
                    out.append(f'<text x="{x + 4}" y="{y + 19}">{ratio:.2f}</text>')
        out += [f'<text x="{x0 - 8}" y="{y0 + r * CELL + 19}" text-anchor="end">{row} B rows</text>' for r, row in enumerate(rows)]
    print("\n".join(out) + "\n</svg>")


if __name__ == "__main__":
    main()
