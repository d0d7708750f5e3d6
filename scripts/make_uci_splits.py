#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes data/uci-splits/<data set>/index_test_<k>.txt and configs/uci-splits/.

Twenty splits of each table, 90 : 10 as Hernández-Lobato & Adams (2015) have them; theirs are index_train_K.txt and
index_test_K.txt in the same form, and go with these configurations as
    --set data.split_files.test=index_test_3.txt --set data.split_files.train=index_train_3.txt
The rule of ours: split k shuffles 0 … N−1 with random.Random(k).shuffle, and tests on the last round(N/10) of them. The
training rows are all others, so that no file has them.
"""
import pathlib
import random

ROOT = pathlib.Path(__file__).resolve().parent.parent
SPLITS = 20
DATASETS = {"airfoil": 1503, "concrete": 1030, "energy": 768, "yacht": 308}
NETWORKS = {"50": ("one hidden layer of 50", "[50, 1]"), "16-16-16": ("the default network", "[16, 16, 16, 1]")}

CONFIG = """# {dataset} on public splits, {network}: psmile-auto on the first of twenty (docs/results/uci-splits.md).
# Written by scripts/make_uci_splits.py.
saving_dir: results
experiment_name: uci-splits/{dataset}-{name}
rng: 1
data:
  path: data/uci/{dataset}.data
  task: mean_regr
  split_files:
    test: data/uci-splits/{dataset}/index_test_0.txt
model:
  model: FCN
  hidden_structure: {widths}
  activation: relu
training:
  warmstart:
    optimizer_config:
      name: adamw
      parameters:
        learning_rate: 0.01
        weight_decay: 0.005
    max_epochs: 200
    batch_size: 64
    patience: 10
  sampler:
    name: psmile-auto
    n_chains: 10
    warmup_steps: 50000
    n_samples: 10000
    n_thinning: 10
"""

SEARCH = """# All twenty splits with psmile-auto, MILE, IVON and Laplace; the deep ensemble is the warm start of either.
# Written by scripts/make_uci_splits.py.
data:
  split_files:
    test:
{files}
training:
  sampler:
    - {{name: psmile-auto}}
    - {{name: mclmc, step_size_init: 0.01, desired_energy_var_start: 0.5, desired_energy_var_end: 0.1}}
    - {{name: ivon, n_samples: 1000, n_thinning: 1}}
    - {{name: laplace, laplace_prior: marginal_likelihood, n_samples: 1000, n_thinning: 1}}
"""


def test_rows(rows, split):
    order = list(range(rows))
    random.Random(split).shuffle(order)
    return order[rows - round(rows / 10):]


def main():
    (ROOT / "configs/uci-splits").mkdir(parents=True, exist_ok=True)
    for dataset, rows in DATASETS.items():
        folder = ROOT / "data/uci-splits" / dataset
        folder.mkdir(parents=True, exist_ok=True)
        for split in range(SPLITS):
            text = "".join(f"{row}\n" for row in sorted(test_rows(rows, split)))
            (folder / f"index_test_{split}.txt").write_text(text)
        files = "\n".join(f"      - data/uci-splits/{dataset}/index_test_{split}.txt" for split in range(SPLITS))
        for name, (network, widths) in NETWORKS.items():
            base = ROOT / f"configs/uci-splits/{dataset}-{name}"
            base.with_suffix(".yaml").write_text(
                CONFIG.format(dataset=dataset, network=network, name=name, widths=widths))
            (base.parent / (base.name + ".splits.yaml")).write_text(SEARCH.format(files=files))


if __name__ == "__main__":
    main()
