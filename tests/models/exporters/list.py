"""Writes the table of tests/models/README.md from the case.json files.

    python3 tests/models/exporters/list.py [--check]

--check writes nothing; the exit status is 1 if the table is not up to date.
"""

import json
import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BEGIN, END = "<!-- made by tests/models/exporters/list.py -->\n", "<!-- end -->\n"


def main():
    rows, counts = [], {}
    for framework in sorted(os.listdir(ROOT)):
        folder = os.path.join(ROOT, framework)
        for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
            path = os.path.join(folder, name, "case.json")
            if os.path.exists(path):
                with open(path) as file:
                    case = json.load(file)
                exporter = case["source"].split(";")[0]
                note = case["note"].replace("|", "\\|")
                rows.append(f"| {framework}/{name} | {exporter} | {case['indexed_ops']} | {note} |")
                seen = (1, case.get("whole", False), case["indexed_ops"], len(case.get("kernels", ())))
                counts[framework] = [a + b for a, b in zip(counts.get(framework, (0,) * len(seen)), seen)]
    counts = {**dict(sorted(counts.items())), "all": [sum(column) for column in zip(*counts.values())]}
    table = ["| folder | models | strew runs them whole | indexed operations | of them recorded with their values, in the others |", "|---|---|---|---|---|"]
    table += [f"| {framework} | " + " | ".join(map(str, count)) + " |" for framework, count in counts.items()]
    table += ["", "| model | exporter | indexed operations | exercises |", "|---|---|---|---|", *rows]
    path = os.path.join(ROOT, "README.md")
    with open(path) as file:
        text = file.read()
    head, tail = text.split(BEGIN)[0], text.split(END)[-1]
    new = f"{head}{BEGIN}\n" + "\n".join(table) + f"\n\n{END}{tail}"
    if "--check" in sys.argv:
        sys.exit(text != new)
    with open(path, "w") as file:
        file.write(new)


if __name__ == "__main__":
    main()
