#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/results/authors-settings.md from tests/data/authors-settings.tsv, the authors' value, ours and the reason
of each setting. tests/unit/experiment/paper_test.cpp holds the table against the configurations and the page.
"""
import csv
import pathlib

ROOT = pathlib.Path(__file__).resolve().parent.parent
HEAD = """# The paper's experiments: the authors' settings and ours

Written by scripts/authors_table.py from [authors-settings.tsv](../../tests/data/authors-settings.tsv); a test compares *ours*
with the files. The authors' values are those of their public configuration files of May 2026. What is not listed (biases,
activations, the tuner's 0.98, 0.1, 0.02, 0.01) is the same by default. `sampler[name]` is the entry of a search file.

Different by intent everywhere: psmile-auto stands beside the paper's samplers; plain `sghmc` stands beside the `adasghmc` that the
paper calls SGHMC; and `compat: authors` (off in these files) computes what the authors' code computes where it differs
([configuration](../configuration.md)).

**Where they differ**

"""


def table(rows, reasons):
    columns = ["experiment", "file", "key", "authors", "ours"] + (["reason"] if reasons else [])
    text = "| " + " | ".join(columns) + " |\n|" + "---|" * len(columns) + "\n"
    for row in rows:
        cells = [row[column] for column in columns]
        cells[1:5] = [f"`{cell}`" for cell in cells[1:5]]
        text += "| " + " | ".join(cells) + " |\n"
    return text


def main():
    with open(ROOT / "tests/data/authors-settings.tsv") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    different = [row for row in rows if row["authors"] != row["ours"]]
    same = [row for row in rows if row["authors"] == row["ours"]]
    page = HEAD + table(different, True) + "\n**Where they agree**\n\n" + table(same, False)
    (ROOT / "docs/results/authors-settings.md").write_text(page)


if __name__ == "__main__":
    main()
