#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes configs/uci/<data set>/<method>.yaml and <method>-small.yaml from the one table below.

The table holds what differs between the methods; everything else is the paper's UCI experiment (T2): a
16-16-16-1 ReLU network with a global noise level, ten members trained by AdamW, ten chains of 50,000 warm-up and
10,000 sampling steps thinned by 10; twice as many of the samplers of one gradient a step (-auto), so that all
microcanonical ones take 120,000 gradients. Step sizes of the baselines are each one's best on a grid (docs/results/uci.md).
"""
import pathlib

DATASETS = {"airfoil": 1503, "energy": 768, "bikesharing": 17379}

# sampler name -> lines of the sampler section; a dict gives values by data set.
METHODS = {
    "mile": {"name": "mclmc", "batch_size": "null", "step_size_init": 0.01, "desired_energy_var_start": 0.5,
             "desired_energy_var_end": 0.1},
    "smile-naive": {"name": "smile-naive", "step_size": 0.001},
    "psmile-naive": {"name": "psmile-naive", "step_size": 0.001},
    "smile": {"name": "smile", "step_size": 0.001},
    "psmile": {"name": "psmile", "step_size": 0.001},
    "smile-auto": {"name": "smile-auto"},
    "psmile-auto": {"name": "psmile-auto"},
    "sgld": {"name": "sgld", "step_size": 1e-6},
    "psgld": {"name": "psgld", "step_size": 1e-6},
    "csgld": {"name": "csgld", "scheduler_config_samp":
              {"name": "cosine", "exploration": 0.25, "init_step_size": 1e-5, "target_step_size": 1e-7, "n_cycles": 4}},
    "sghmc": {"name": "sghmc", "step_size": 1e-6, "mdecay": 0.05},
    "adasghmc": {"name": "adasghmc", "step_size": {"airfoil": 0.01, "energy": 0.01, "bikesharing": 0.003}, "mdecay": 0.05},
    "rmsprop-sghmc": {"name": "rmsprop-sghmc", "step_size": 0.01, "mdecay": 0.05},
    "sgnht": {"name": "sgnht", "step_size": 0.001},
}

TEMPLATE = """# {title}
# Written by scripts/make_uci_configs.py.
saving_dir: results
experiment_name: uci/{dataset}/{name}
rng: 1
data:
  path: data/uci/{dataset}.data
  source: local
  data_type: tabular
  task: mean_regr
  train_split: 0.7
  valid_split: 0.1
  test_split: 0.2
model:
  model: FCN
  hidden_structure: [16, 16, 16, 1]
  activation: relu
training:
  warmstart:
    include: true
    optimizer_config:
      name: adamw
      parameters:
        learning_rate: 0.01
        weight_decay: 0.005
    max_epochs: 200
    batch_size: 64
    patience: 10
  sampler:
{sampler}    n_chains: 10
    warmup_steps: {warmup}
    n_samples: {samples}
    n_thinning: {thinning}
{epoch_wise}    prior_config:
      name: StandardNormal
evaluation_args:
  nominal_coverages: [0.5, 0.8, 0.9, 0.95]
"""


def text_of(value):
    if isinstance(value, float):
        text = f"{value:g}"
        return text.replace("e-0", "e-") if "e" in text and "." in text else (text.replace("e-0", ".0e-") if "e" in text else text)
    return str(value)


def lines_of(section, indent):
    out = ""
    for key, value in section.items():
        if isinstance(value, dict):
            out += " " * indent + f"{key}:\n" + lines_of(value, indent + 2)
        else:
            out += " " * indent + f"{key}: {text_of(value)}\n"
    return out


def main():
    root = pathlib.Path(__file__).resolve().parent.parent / "configs" / "uci"
    for dataset in DATASETS:
        for method, section in METHODS.items():
            sampler = {k: v[dataset] if isinstance(v, dict) and dataset in v else v for k, v in section.items()}
            if "batch_size" not in sampler:
                sampler = {"name": sampler["name"], "batch_size": 256, **sampler}
            for small in (False, True):
                name = method + ("-small" if small else "")
                title = f"{method} on {dataset}" + (", reduced: seconds to a minute on two cores" if small else
                                                    ", as in the paper's UCI experiment (T2)")
                longer = 2 if method.endswith("-auto") else 1
                text = TEMPLATE.format(title=title, dataset=dataset, name=name, sampler=lines_of(sampler, 4),
                                       warmup=longer * (10000 if small else 50000),
                                       samples=longer * (5000 if small else 10000), thinning=longer * 10,
                                       epoch_wise="" if method == "mile" else "    epoch_wise_sampling: false\n")
                path = root / dataset / f"{name}.yaml"
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)


if __name__ == "__main__":
    main()
