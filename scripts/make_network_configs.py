# SPDX-License-Identifier: Apache-2.0
"""Writes configs/networks/: the paper's experiments on images and text (rows T3, T6, T9-T14, F1, F2, F7, F8), full, with
the authors' settings (docs/results/authors-settings.md has them beside ours), and reduced ("-small": minutes on two
cores). A search file beside a configuration holds the row's comparison:
    smile run configs/networks/lenet-small.yaml --search configs/networks/lenet-small.samplers.yaml
"""
import pathlib

OUT = pathlib.Path(__file__).resolve().parent.parent / "configs/networks"



def images(path, train=0.8999, valid=0.1, test=0.0001, **more):
    """A set with test files of its own: its training files are divided train : valid, the third share counts for
    nothing."""
    return {"path": path, "data_type": "image", "task": "class", "train_split": train, "valid_split": valid,
            "test_split": test, **more}


def text(path, train=0.8, valid=0.1, test=0.1, **more):
    return {"path": path, "data_type": "text", "task": "class_multilabel", "train_split": train, "valid_split": valid,
            "test_split": test, **more}


# The authors' shares of all images of a set.
FASHION = {"train": 0.7, "valid": 0.15715, "test": 0.14285}
CIFAR = {"train": 0.75, "valid": 0.08334, "test": 0.16666}
IMAGENETTE = {"train": 0.65, "valid": 0.05696, "test": 0.29}


def cosine(first, peak, last, warmup, steps):
    """A learning rate that rises to `peak` in `warmup` steps and falls to `last` at `steps`."""
    return {"lr_schedule": "cosine_decay",
            "lr_schedule_parameters": {"init_value": first, "peak_value": peak, "warmup_steps": warmup,
                                       "decay_steps": steps, "exponent": 1.0, "end_value": last}}


def warmstart(rate, epochs, batch, patience, **more):
    """@param rate  None where a schedule has it"""
    parameters = {**({} if rate is None else {"learning_rate": rate}), **more.pop("parameters", {})}
    return {"include": True, "optimizer_config": {"name": "adamw", "parameters": parameters, **more},
            "max_epochs": epochs, "batch_size": batch, "patience": patience}


def sampler(name, chains, batch, warmup, samples, thinning, **more):
    return {"name": name, "n_chains": chains, "batch_size": batch, "warmup_steps": warmup, "n_samples": samples,
            "n_thinning": thinning, **more}


def steps_of(name, *steps):
    return {"training": {"sampler": {"name": [name], "step_size": list(steps)}}}


def csgld(first, last, exploration=0.33, cycles=4):
    return {"name": "csgld", "scheduler_config_samp": {"name": "cosine", "init_step_size": first,
                                                       "target_step_size": last, "n_cycles": cycles,
                                                       "exploration": exploration}, "warmup_steps": 0}


# name: (comment, configuration, {search name: (comment, search)})
ROWS = {}


def row(name, comment, data, model, warm, samp, searches, evaluation=None):
    config = {"data": data, "model": model, "training": {"warmstart": warm, "sampler": samp}}
    if evaluation:
        config["evaluation_args"] = evaluation
    ROWS[name] = (comment, config, searches)


def samplers(*alternatives):
    return {"training": {"sampler": list(alternatives)}}


LENET = {"model": "LeNet", "activation": "gelu"}
APPROXIMATIONS = samplers({"name": "ivon", "step_size": 0.03},
                          {"name": "laplace", "laplace_form": "last_layer", "laplace_prior": "marginal_likelihood"})
T6 = samplers({"name": "sghmc", "step_size": 0.001, "mdecay": 0.05}, {"name": "adasghmc", "step_size": 0.001, "mdecay": 0.05}, {"name": "smile-naive", "step_size": 0.0001},
              {"name": "psmile-naive", "step_size": 0.01}, {"name": "smile", "step_size": 0.001},
              {"name": "psmile", "step_size": 0.01}, {"name": "psmile-auto"})
row("lenet", "T6, F7: LeNet on Fashion-MNIST", images("/usr/share/datasets/fashion-mnist", **FASHION), LENET,
    warmstart(0.001, 10000, 64, 20, parameters={"weight_decay": 0.02}), sampler("psmile-auto", 8, 512, 5000, 10000, 100),
    {"samplers": ("T6: the samplers", T6),
     "steps": ("T6: step sizes of adasghmc, whose best stands in the table", steps_of("adasghmc", 0.01, 0.001, 0.0001)),
     "batch-sizes": ("F7: batch sizes and steps",
                     {"training": {"sampler": {"name": ["smile-naive", "psmile-naive", "smile", "adasghmc"],
                                               "batch_size": [128, 512, 1024],
                                               "step_size": [0.01, 0.001, 0.0001]}}})})
row("lenet-small", "T6, F7 reduced: LeNet on 4,000 images of Fashion-MNIST",
    images("/usr/share/datasets/fashion-mnist", datapoint_limit=4000), LENET,
    warmstart(0.002, 30, 50, 4), sampler("psmile-auto", 2, 100, 300, 600, 20),
    {"samplers": ("T6 reduced", T6),
     "approximations": ("T6 reduced, IVON and Laplace", samplers(
         {"name": "ivon", "step_size": 0.03, "warmup_steps": 3000},
         {"name": "laplace", "laplace_form": "last_layer", "laplace_prior": "marginal_likelihood"},
         {"name": "laplace", "laplace_form": "diagonal", "laplace_prior": "marginal_likelihood"})),
     "rules": ("fixed step, energy rule and turning-angle rule (spec 1.13) from several starting steps",
               {"training": {"sampler": [{"name": name, "step_size": step}
                                         for step in (1e-4, 1e-3, 1e-2, 1e-1)
                                         for name in ("psmile-naive", "psmile", "psmile-auto")]}}),
     "batch-sizes": ("F7 reduced", {"training": {"sampler": {"name": ["smile-naive", "psmile-naive", "psmile"],
                                                             "batch_size": [32, 128, 512]}}})},
    {"datapoint_limit": 1000})

F1 = samplers({"name": "smile-naive", "step_size": 0.0005}, {"name": "psmile-naive", "step_size": 1e-5},
              {"name": "smile", "step_size": 1e-5}, {"name": "psmile", "step_size": 1e-5},
              {"name": "smile-naive",
               "scheduler_config_warm": {"name": "linear", "init_step_size": 0.001, "target_step_size": 0.00075},
               "scheduler_config_samp": {"name": "cosine", "init_step_size": 0.00075, "target_step_size": 0.0001,
                                         "n_cycles": 1, "exploration": 0.0}},
              {"name": "adasghmc", "step_size": 0.01, "mdecay": 0.05},
              {"name": "sghmc", "step_size": 0.001, "mdecay": 0.05}, {"name": "psmile-auto"})
RESNET_WARM = warmstart(None, 400, 64, 20, parameters={"weight_decay": 0.0001},
                        **cosine(1e-5, 0.002, 0.0005, 5000, 250000))
row("resnet7", "F1, F8: ResNet-7 on CIFAR-10", images("data/cifar10", **CIFAR, normalize=False, augment="basic"),
    {"model": "ResNet7"}, RESNET_WARM, sampler("psmile", 8, 512, 5000, 10000, 100, step_size=1e-5),
    {"samplers": ("F1, F8: naive against tuned, and a naive sampler on a schedule", F1),
     "steps": ("F1, F8: the step sizes",
               {"training": {"sampler": {"name": ["psmile", "smile", "psmile-naive", "smile-naive", "adasghmc"],
                                         "step_size": [0.01, 0.001, 0.0001, 1e-5]}}})})
row("resnet7-small", "F1, F8 reduced: ResNet-7 on 1,500 images of CIFAR-10",
    images("data/cifar10", datapoint_limit=1500), {"model": "ResNet7"},
    warmstart(0.001, 12, 32, 4), sampler("psmile", 2, 32, 40, 60, 6, step_size=0.01),
    {"samplers": ("F1 reduced", samplers({"name": "smile-naive", "step_size": 0.01},
                                         {"name": "psmile-naive", "step_size": 0.01},
                                         {"name": "smile", "step_size": 0.01},
                                         {"name": "psmile", "step_size": 0.01}))},
    {"datapoint_limit": 200})

T3 = samplers({"name": "sghmc", "step_size": 0.001, "mdecay": 0.05}, {"name": "adasghmc", "step_size": 0.01, "mdecay": 0.05}, {"name": "smile", "step_size": 0.01},
              {"name": "psmile", "step_size": 0.01}, {"name": "psmile-auto"},
              {**csgld(1e-5, 5e-9), "n_samples": 15000, "n_thinning": 150})
row("resnet18", "T3, T9: ResNet-18 on CIFAR-10", images("data/cifar10", **CIFAR, normalize=False, augment="basic"),
    {"model": "ResNet", "layers": [2, 2, 2, 2]}, RESNET_WARM,
    sampler("psmile", 8, 512, 5000, 10000, 100, step_size=0.01),
    {"samplers": ("T3, T9: the samplers", T3),
     "steps": ("T3: the step sizes",
               {"training": {"sampler": {"name": ["psmile", "smile", "adasghmc"],
                                         "step_size": [0.1, 0.01, 0.001, 0.0001, 1e-5]}}}),
     "single-chain": ("T9: one chain", {"training": {"sampler": [
         {"name": name, "step_size": step, "n_chains": 1} for name, step in
         (("sghmc", 0.001), ("adasghmc", 0.01), ("smile", 0.01), ("psmile", 0.01))]}}),
     "approximations": ("T3, T9: IVON and Laplace", APPROXIMATIONS),
     "kappa": ("T11: the reset quantile, 1 - kappa",
               {"training": {"sampler": {"name": ["smile"], "smile_tuning": {"reset_prob": [0.98, 0.95, 0.99, 0.9999999999, 0.9]}}}}),
     "adaption": ("T12: the adaptation mass a",
                  {"training": {"sampler": {"name": ["smile"], "smile_tuning": {"adaption_prob": [0.0, 0.05, 0.1, 0.2, 0.4]}}}})})
row("resnet18-small", "T3 reduced: ResNet-18 on 500 images of CIFAR-10, a few dozen steps: it works, costs and memory",
    images("data/cifar10", datapoint_limit=500), {"model": "ResNet", "layers": [2, 2, 2, 2]},
    warmstart(0.001, 3, 64, 3), sampler("psmile", 1, 64, 12, 12, 6, step_size=0.015), {},
    {"datapoint_limit": 200})

VIT = {"model": "ViT", "patch_size": 16, "dim": 384, "depth": 12, "num_heads": 8, "transformer_fc_dim": 1536,
       "classifier_fc_dim": 1024}
row("vit", "T13: vision transformer on Imagenette", images("data/imagenette", **IMAGENETTE, image_size=160, augment="basic"), VIT,
    warmstart(None, 300, 128, 300, parameters={"weight_decay": 0.1}, **cosine(1e-6, 0.001, 1e-5, 740, 22400)),
    sampler("psmile", 4, 128, 5000, 10000, 100, step_size=0.01),
    {"steps": ("T13: the step sizes", {"training": {"sampler": {"step_size": [0.05, 0.1, 0.15, 0.2]}}}),
     "adasghmc-steps": ("T13: step sizes of adasghmc",
                        {"training": {"sampler": {"name": ["adasghmc"],
                                                  "step_size": [0.001, 0.0005, 0.00015, 0.0001, 5e-5],
                                                  "warmup_steps": [10000], "n_samples": [20000], "n_thinning": [200]}}}),
     "samplers": ("T13: the baselines",
                  samplers({"name": "sghmc", "step_size": 0.001, "mdecay": 0.05},
                           {"name": "adasghmc", "step_size": 0.001, "mdecay": 0.05, "warmup_steps": 10000,
                            "n_samples": 20000, "n_thinning": 200},
                           {**csgld(1e-6, 1e-9), "n_samples": 20000, "n_thinning": 200}))})
row("vit-small", "T13 reduced: a small vision transformer on 400 images of Imagenette at 32 pixels",
    images("data/imagenette", image_size=32),
    {"model": "ViT", "patch_size": 8, "dim": 64, "depth": 3, "num_heads": 4, "transformer_fc_dim": 128,
     "classifier_fc_dim": 64},
    warmstart(0.001, 30, 32, 5), sampler("psmile", 2, 64, 100, 200, 20, step_size=0.01),
    {"steps": ("T13 reduced", {"training": {"sampler": {"step_size": [0.001, 0.01, 0.1]}}})})

GPT = {"model": "GPT", "context_len": 256, "emb_size": 384, "n_blocks": 6, "n_heads": 6, "qkv_dim": 384}
ADAMW = {"parameters": {"weight_decay": 0.05, "b2": 0.95}}
row("gpt", "T14, F2, F.6: nanoGPT on modern-shakespeare", text("data/text/modern-shakespeare.txt", 0.9, 0.05, 0.05), GPT,
    warmstart(None, 30, 64, 30, lr_schedule="linear",
              lr_schedule_parameters={"init_value": 3e-4, "end_value": 2.5e-4, "transition_steps": 1890}, **ADAMW),
    sampler("psmile", 4, 128, 200, 1000, 100, step_size=3e-4),
    {"steps": ("T14, F2: step sizes of psmile and adasghmc",
               {"training": {"sampler": {"name": ["psmile", "adasghmc"], "step_size": [2e-6, 2e-5, 2e-4, 2e-3]}}})})
row("gpt-small", "T14, F2 reduced: a GPT of 0.35 million parameters, context 64",
    text("data/text/modern-shakespeare.txt", datapoint_limit=250000),
    {"model": "GPT", "context_len": 64, "emb_size": 96, "n_blocks": 3, "n_heads": 4, "qkv_dim": 96},
    warmstart(0.003, 4, 16, 4, lr_schedule="linear",
              lr_schedule_parameters={"init_value": 3e-3, "end_value": 2.5e-3, "transition_steps": 780}, **ADAMW),
    sampler("psmile", 2, 16, 60, 120, 12, step_size=1.7e-3),
    # The grid lies about the optimiser's last rate as the paper's does about 3e-4: times 1/150 … 7.
    {"steps": ("F2 reduced: four decades of step sizes",
               {"training": {"sampler": {"name": ["psmile", "adasghmc"],
                                         "step_size": [1.7e-5, 1.7e-4, 1.7e-3, 1.7e-2]}}}),
     "rules": ("fixed step, energy rule and turning-angle rule from several starting steps",
               {"training": {"sampler": [{"name": name, "step_size": step}
                                         for step in (1.7e-5, 1.7e-3, 1.7e-2)
                                         for name in ("psmile-naive", "psmile", "psmile-auto")]}})},
    {"datapoint_limit": 4096})


row("gpt-tiny", "F2 once more with a GPT of 31,000 parameters, context 32: minutes for the whole grid",
    text("data/text/modern-shakespeare.txt", datapoint_limit=150000),
    {"model": "GPT", "context_len": 32, "emb_size": 32, "n_blocks": 2, "n_heads": 2, "qkv_dim": 32},
    warmstart(0.01, 3, 16, 3, lr_schedule="linear",
              lr_schedule_parameters={"init_value": 1e-2, "end_value": 8e-3, "transition_steps": 700}, **ADAMW),
    sampler("psmile", 2, 32, 100, 200, 10, step_size=5e-3),
    {"steps": ("four decades of step sizes",
               {"training": {"sampler": {"name": ["psmile", "adasghmc"],
                                         "step_size": [5e-5, 5e-4, 5e-3, 5e-2]}}})},
    {"datapoint_limit": 4096})


def scalar(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, list) and not any(isinstance(item, dict) for item in value):
        return "[" + ", ".join(scalar(item) for item in value) + "]"
    return str(value)


def flow(value):
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {flow(item)}" for key, item in value.items()) + "}"
    return scalar(value)


def lines(tree, indent=0):
    out = []
    for key, value in tree.items():
        pad = "  " * indent
        if isinstance(value, dict):
            out += [f"{pad}{key}:"] + lines(value, indent + 1)
        elif isinstance(value, list) and any(isinstance(item, dict) for item in value):
            out += [f"{pad}{key}:"] + [f"{pad}  - {flow(item)}" for item in value]
        else:
            out.append(f"{pad}{key}: {scalar(value)}")
    return out


def write(path, comment, tree):
    path.write_text(f"# {comment}\n# Written by scripts/make_network_configs.py.\n" + "\n".join(lines(tree)) + "\n")


def main():
    OUT.mkdir(parents=True, exist_ok=True)
    for name, (comment, config, searches) in ROWS.items():
        write(OUT / f"{name}.yaml", comment, {"saving_dir": "results", "experiment_name": f"networks/{name}", "rng": 1,
                                              **config})
        for search, (search_comment, tree) in searches.items():
            write(OUT / f"{name}.{search}.yaml", search_comment, tree)


if __name__ == "__main__":
    main()
