#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares smile_bnn with packages of the Python world on the same data, networks and steps, and writes docs/results/peers.md.

    scripts/compare_peers.py [--work DIR] [--wheel WHEEL] [--repeats 5] [--sections bde,blackjax,torch]

makes a virtual environment in DIR (default build/peers), installs the peers from PyPI and smile_bnn from this tree (or the
wheel), measures each section and writes the page. Peers run in alternation with ours, each in a fresh process with the number
of threads that suits it best. What JAX compiles is kept from a first run that does not count; that run's time is told apart. A rate
is the slope between the medians of short and long runs, so that what comes before the steps does not count. Medians of the
repeats, with the smallest and largest.
"""

import argparse
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
PACKAGES = {
    "bde": ["sklearn-contrib-bde"],
    "blackjax": ["blackjax", "arviz-stats", "arviz-base"],
    "torch": ["torch", "posteriors"],
}


# -- what is measured: each function runs in a process of its own and prints one line of JSON --------------------------


def table(name):
    """A UCI table, split by rows 4 to 1, standardised by its training rows."""
    import numpy as np

    rows = np.loadtxt(ROOT / "data" / "uci" / f"{name}.data")
    order = np.random.default_rng(0).permutation(len(rows))
    test, train = rows[order[: len(rows) // 5]], rows[order[len(rows) // 5 :]]
    mean, sd = train.mean(axis=0), train.std(axis=0)
    train, test = (train - mean) / sd, (test - mean) / sd
    return train[:, :-1], train[:, -1], test[:, :-1], test[:, -1]


CHAINS, WARMUP, WIDTHS = 8, 1000, [16, 16, 16]


def ours_fit(name, steps, batch, sampler, task, options=None, epochs=200):
    import numpy as np

    from smile_bnn import SmileRegressor

    X, y, X_test, y_test = table(name)
    model = SmileRegressor(
        task=task,
        hidden=WIDTHS,
        sampler=sampler,
        sampler_options=options,
        n_chains=CHAINS,
        n_samples=steps,
        warmup_steps=WARMUP,
        thinning=max(1, steps // 100),
        batch_size=batch,
        warmstart_options={"max_epochs": epochs},
        random_state=0,
        # What is evaluated and diagnosed within a fit is not sampling, and the peers do not do it.
        config={"evaluations": ["LPPD"], "evaluation_args.datapoint_limit": 50},
    )
    begun = time.perf_counter()
    model.fit(X, y)
    seconds = time.perf_counter() - begun
    mean = model.predict(X_test)
    return {
        "seconds": seconds,
        "lppd": model.score_lppd(X_test, y_test),
        "rmse": float(np.sqrt(np.mean((mean - y_test) ** 2))),
    }


def bde_fit(name, steps, epochs=200):
    import numpy as np
    from bde import BdeRegressor

    X, y, X_test, y_test = table(name)
    model = BdeRegressor(
        hidden_layers=WIDTHS,
        n_members=CHAINS,
        n_samples=steps,
        warmup_steps=WARMUP,
        n_thinning=max(1, steps // 100),
        epochs=epochs,
        patience=20,
        validation_split=0.1,
        lr=1e-2,
        seed=0,
    )
    begun = time.perf_counter()
    model.fit(X.astype(np.float32), y.astype(np.float32))
    seconds = time.perf_counter() - begun
    raw = np.asarray(model.predict(X_test.astype(np.float32), raw=True), dtype=np.float64)
    raw = raw.reshape(-1, len(y_test), 2)
    mu, sd = raw[..., 0], np.log1p(np.exp(raw[..., 1])) + 1e-6
    density = -0.5 * ((y_test - mu) / sd) ** 2 - np.log(sd) - 0.5 * np.log(2 * np.pi)
    top = density.max(axis=0)
    return {
        "seconds": seconds,
        "lppd": float(np.mean(top + np.log(np.mean(np.exp(density - top), axis=0)))),
        "rmse": float(np.sqrt(np.mean((mu.mean(axis=0) - y_test) ** 2))),
    }


def logistic():
    """A logistic regression with 25 coefficients on 500 rows."""
    import numpy as np

    rng = np.random.default_rng(1)
    A = rng.normal(size=(500, 25)).astype(np.float32)
    truth = rng.normal(size=25).astype(np.float32) / 2
    y = (rng.random(500) < 1 / (1 + np.exp(-A @ truth))).astype(np.float32)
    return A, y


def jax_logistic():
    import jax
    import jax.numpy as jnp

    A, y = map(jnp.asarray, logistic())

    def log_density(theta):
        z = A @ theta
        return jnp.sum(y * z - jax.nn.softplus(z)) - 0.5 * theta @ theta

    return log_density


def effective_size(draws):
    """Of the worst coefficient, [chains, draws, d]."""
    import numpy as np
    from arviz_stats.base import array_stats

    draws = np.asarray(draws, dtype=np.float64)
    return min(float(array_stats.ess(draws[..., i], chain_axis=0, draw_axis=1)) for i in range(draws.shape[-1]))


def ours_density(steps, form):
    import numpy as np

    import smile_bnn

    if form == "jax":
        import jax.numpy as jnp

        density = smile_bnn.JaxDensity(jax_logistic(), jnp.zeros(25))
    else:
        A, y = logistic()

        def density(theta):
            z = A @ theta
            p = 1 / (1 + np.exp(-z))
            return float(y @ z - np.logaddexp(0, z).sum() - 0.5 * (theta @ theta)), A.T @ (y - p) - theta

    begun = time.perf_counter()
    result = smile_bnn.sample(
        density, np.zeros(25), n_chains=4, n_samples=steps, warmup_steps=2000, thinning=1, random_state=0
    )
    seconds = time.perf_counter() - begun
    return {"seconds": seconds, "ess": effective_size(result.draws)}


def blackjax_mclmc(steps):
    import blackjax
    import jax
    import jax.numpy as jnp
    import numpy as np

    log_density = jax_logistic()
    key = jax.random.key(0)
    begun = time.perf_counter()
    initial = blackjax.mcmc.mclmc.init(position=jnp.zeros(25), logdensity_fn=log_density, rng_key=key)

    def kernel(sqrt_diag_cov):
        return blackjax.mcmc.mclmc.build_kernel(
            logdensity_fn=log_density,
            integrator=blackjax.mcmc.integrators.isokinetic_mclachlan,
            sqrt_diag_cov=sqrt_diag_cov,
        )

    tuned = blackjax.mclmc_find_L_and_step_size(mclmc_kernel=kernel, num_steps=2000, state=initial, rng_key=key)
    state, parameters = tuned[0], tuned[1]
    algorithm = blackjax.mclmc(log_density, L=parameters.L, step_size=parameters.step_size)

    @jax.jit
    def chains(keys):
        def one(key):
            def body(state, key):
                state, _ = algorithm.step(key, state)
                return state, state.position

            return jax.lax.scan(body, state, jax.random.split(key, steps))[1]

        return jax.vmap(one)(keys)

    draws = np.asarray(chains(jax.random.split(key, 4)).block_until_ready())
    return {"seconds": time.perf_counter() - begun, "ess": effective_size(draws)}


def blackjax_nuts(draws):
    import blackjax
    import jax
    import jax.numpy as jnp
    import numpy as np

    log_density = jax_logistic()
    key = jax.random.key(0)
    begun = time.perf_counter()
    (state, parameters), _ = blackjax.window_adaptation(blackjax.nuts, log_density).run(key, jnp.zeros(25), num_steps=500)
    algorithm = blackjax.nuts(log_density, **parameters)

    @jax.jit
    def chains(keys):
        def one(key):
            def body(state, key):
                state, _ = algorithm.step(key, state)
                return state, state.position

            return jax.lax.scan(body, state, jax.random.split(key, draws))[1]

        return jax.vmap(one)(keys)

    positions = np.asarray(chains(jax.random.split(key, 4)).block_until_ready())
    return {"seconds": time.perf_counter() - begun, "ess": effective_size(positions)}


def posteriors_chain(name, steps, sampler):
    """One chain of SGLD or SGHMC on mini-batches of 256 of the same network with one noise."""
    import posteriors
    import torch

    torch.set_num_threads(1)  # more are slower for a network of this size
    X, y, _, _ = (torch.tensor(a, dtype=torch.float32) for a in table(name))
    torch.manual_seed(0)
    layers, last = [], X.shape[1]
    for width in WIDTHS:
        layers += [torch.nn.Linear(last, width), torch.nn.ReLU()]
        last = width
    module = torch.nn.Sequential(*layers, torch.nn.Linear(last, 1))
    parameters = {name: p.detach().clone() for name, p in module.named_parameters()}
    parameters["log_sigma"] = torch.zeros(())
    rows = len(X)

    def log_posterior(p, batch):
        inputs, targets = batch
        log_sigma = p["log_sigma"]
        mean = torch.func.functional_call(module, {k: v for k, v in p.items() if k != "log_sigma"}, (inputs,))[:, 0]
        fit = -0.5 * ((targets - mean) / torch.exp(log_sigma)) ** 2 - log_sigma
        prior = sum(-0.5 * (v**2).sum() for v in p.values())
        return fit.mean() * rows + prior, torch.tensor([])

    build = posteriors.sgmcmc.sgld.build if sampler == "sgld" else posteriors.sgmcmc.sghmc.build
    transform = build(log_posterior, lr=1e-6 if sampler == "sgld" else 1e-4)
    state = transform.init(parameters)
    begun = time.perf_counter()
    for step in range(steps):
        index = torch.randint(0, rows, (256,))
        state, _ = transform.update(state, (X[index], y[index]))
    return {"seconds": time.perf_counter() - begun}


# -- how it is measured ------------------------------------------------------------------------------------------------


def run(python, call, cache, threads=None):
    """A function of this file in a process of its own. @param cache  where JAX keeps what it has compiled"""
    environment = dict(os.environ)
    environment["JAX_COMPILATION_CACHE_DIR"] = cache
    environment["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0"
    environment["JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES"] = "-1"
    if threads and threads > 1:
        environment["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={threads}"
    environment.setdefault("JAX_PLATFORMS", "cpu")
    code = f"import sys, json; sys.path.insert(0, {str(ROOT / 'scripts')!r}); import compare_peers as c; print('RESULT', json.dumps(c.{call}))"
    done = subprocess.run([python, "-W", "ignore", "-c", code], capture_output=True, text=True, env=environment)
    for line in done.stdout.splitlines():
        if line.startswith("RESULT "):
            return json.loads(line[7:])
    raise SystemExit(f"error: {call}: {(done.stderr.strip().splitlines() or ['no result'])[-1]}")


def spread(values, form="{:.3g}"):
    return f"{form.format(statistics.median(values))} ({form.format(min(values))}–{form.format(max(values))})"


class Contest:
    """Runs of several contestants in alternation."""

    def __init__(self, python, repeats):
        self.python, self.repeats, self.results, self.rates = python, repeats, {}, {}
        self.cache = tempfile.mkdtemp(prefix="smile-peers-")

    def measure(self, contestants):
        """@param contestants  name: (call with {steps}, short, long, steps of all chains for one of `steps`, threads)"""
        cold = {}
        for name, (call, short, long, unit, threads) in contestants.items():  # fills the cache
            cold[name] = [run(self.python, call.format(steps=s), self.cache, threads)["seconds"] for s in (short, long)]
        for repeat in range(self.repeats):
            for name, (call, short, long, unit, threads) in contestants.items():
                pair = [run(self.python, call.format(steps=s), self.cache, threads) for s in (short, long)]
                entry = {**pair[1], "first": pair[0]["seconds"], "cold": cold[name][1]}
                self.results.setdefault(name, []).append(entry)
                print(f"{repeat + 1}/{self.repeats} {name}: {json.dumps(entry)}", flush=True)
        for name, (call, short, long, unit, threads) in contestants.items():
            seconds = statistics.median(self.of(name, "seconds")) - statistics.median(self.of(name, "first"))
            self.rates[name] = unit * (long - short) / seconds if seconds > 0 else float("nan")

    def of(self, name, key):
        return [entry[key] for entry in self.results[name]]


def section_bde(contest, cores):
    lines = []
    for name, long_ours, long_peer in (("airfoil", 14000, 12200), ("concrete", 14000, 12200)):
        peer, full, batch = f"bde, {name}", f"smile_bnn mclmc, {name}", f"smile_bnn psmile-auto, batches of 256, {name}"
        contest.measure(
            {
                peer: (f"bde_fit({name!r}, {{steps}})", 200, long_peer, CHAINS, cores),
                full: (f"ours_fit({name!r}, {{steps}}, 'all', 'mclmc', 'regr')", 2000, long_ours, CHAINS, None),
                batch: (f"ours_fit({name!r}, {{steps}}, 256, 'psmile-auto', 'regr')", 4000, 64000, CHAINS, None),
            }
        )
        for who in (peer, full, batch):
            rate = contest.rates[who]
            lines.append(
                f"| {who} | {rate / cores:.0f} | {rate / contest.rates[peer]:.1f}× | {contest.of(who, 'cold')[0]:.1f} | "
                f"{spread(contest.of(who, 'first'))} | {spread(contest.of(who, 'seconds'))} | "
                f"{spread(contest.of(who, 'lppd'), '{:.3f}')} | {spread(contest.of(who, 'rmse'), '{:.3f}')} |"
            )
    return [
        "## Full-batch MILE: sklearn-contrib-bde",
        "",
        f"{CHAINS} chains of a {'-'.join(map(str, WIDTHS))} network with two outputs (mean and noise of each row), {WARMUP} steps of",
        "warm-up, standardised rows, four fifths of them to fit and one to score. A chain-step is one step of one chain; the",
        "package has no mini-batches, so the third line of each table has another kind of step, with 256 rows in place of all.",
        "*Short* and *long* are wall times of `fit` with few and with many steps (bde 200 and 12200, ours 2000 and 14000, or 4000 and",
        "64000 with mini-batches), all included but compilation; *first* is the very first long run, with it. LPPD and RMSE are those of the long runs on the rows",
        "held out.",
        "",
        "| | chain-steps/s a core | relative | first, s | short, s | long, s | LPPD | RMSE |",
        "|---|---|---|---|---|---|---|---|",
        *lines,
        "",
    ]


def section_blackjax(contest, cores):
    contest.measure(
        {
            "BlackJAX MCLMC": ("blackjax_mclmc({steps})", 10000, 100000, 4, None),
            "smile_bnn mclmc, JaxDensity": ("ours_density({steps}, 'jax')", 2000, 10000, 4, None),
            "smile_bnn mclmc, NumPy function": ("ours_density({steps}, 'numpy')", 2000, 10000, 4, None),
            "BlackJAX NUTS": ("blackjax_nuts({steps})", 1000, 10000, 4, None),
        }
    )
    lines = []
    for who in contest.results:
        if "BlackJAX" not in who and "Density" not in who and "NumPy" not in who:
            continue
        per_second = [e["ess"] / e["seconds"] for e in contest.results[who]]
        lines.append(
            f"| {who} | {contest.rates[who]:.0f} | {contest.of(who, 'cold')[0]:.1f} | {spread(contest.of(who, 'seconds'))} | "
            f"{spread(contest.of(who, 'ess'))} | {spread(per_second)} |"
        )
    return [
        "## A density of one's own: BlackJAX",
        "",
        "A logistic regression with 25 coefficients on 500 rows, four chains. BlackJAX compiles sampler and density into one",
        "program and runs the four chains side by side (NUTS steps are draws); ours calls a function of Python at each of the two",
        "gradients of a step, one chain after another.",
        "",
        "| | chain-steps/s | first run, s | long run, s | smallest ESS | ESS/s of long runs |",
        "|---|---|---|---|---|---|",
        *lines,
        "",
    ]


def section_torch(contest, cores):
    lines = []
    for sampler in ("sgld", "sghmc"):
        peer, ours = f"posteriors {sampler}", f"smile_bnn {sampler}"
        step = {"sgld": 1e-6, "sghmc": 1e-4}[sampler]
        contest.measure(
            {
                peer: (f"posteriors_chain('airfoil', {{steps}}, {sampler!r})", 500, 2500, 1, None),
                ours: (
                    f"ours_fit('airfoil', {{steps}}, 256, {sampler!r}, 'mean_regr', {{{{'step_size': {step}}}}}, 5)",
                    20000,
                    100000,
                    CHAINS,
                    None,
                ),
            }
        )
        for who, share in ((peer, 1), (ours, cores)):
            rate = contest.rates[who] / share
            lines.append(f"| {who} | {rate:.0f} | {rate / contest.rates[peer]:.0f}× |")
    return [
        "## Mini-batch samplers: posteriors (PyTorch)",
        "",
        f"The {'-'.join(map(str, WIDTHS))} network with one noise on airfoil, mini-batches of 256. `posteriors` runs one chain on one",
        "thread (more are slower for such a network); ours runs eight chains on all cores, counted a core.",
        "",
        "| | chain-steps/s a core | relative |",
        "|---|---|---|",
        *lines,
        "",
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--work", default=str(ROOT / "build" / "peers"))
    parser.add_argument("--wheel", help="a wheel of smile_bnn; default: built from this tree")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--sections", default="bde,blackjax,torch")
    parser.add_argument("--out", default=str(ROOT / "docs" / "results" / "peers.md"))
    parser.add_argument("--python", help="a Python that has everything, in place of an environment of our own")
    arguments = parser.parse_args()
    sections = arguments.sections.split(",")
    unknown = [s for s in sections if s not in PACKAGES]
    if unknown:
        parser.error(f"--sections {','.join(unknown)}: choose from {', '.join(PACKAGES)}")
    python = arguments.python
    if not python:
        work = pathlib.Path(arguments.work)
        python = str(work / "venv" / "bin" / "python")
        if not pathlib.Path(python).exists():
            subprocess.run([sys.executable, "-m", "venv", str(work / "venv")], check=True)
        packages = [p for s in sections for p in PACKAGES[s]]
        subprocess.run([python, "-m", "pip", "install", "-q", arguments.wheel or str(ROOT), *packages], check=True)
    cores = len(os.sched_getaffinity(0))
    listed = subprocess.run([python, "-m", "pip", "list", "--format=json"], capture_output=True, text=True, check=True)
    versions = {p["name"].lower(): p["version"] for p in json.loads(listed.stdout)}
    names = ["smile-bnn", "sklearn-contrib-bde", "blackjax", "jax", "posteriors", "torch", "numpy"]
    page = [
        "# Beside other packages",
        "",
        "Written by `scripts/compare_peers.py`, which anyone can run: it makes a virtual environment, takes the peers from PyPI and",
        f"measures in alternation. Medians of {arguments.repeats} runs, with the smallest and the largest in brackets. "
        f"{cores} cores, Python {platform.python_version()},",
        "; ".join(f"{n} {versions[n]}" for n in names if n in versions) + ".",
        "A rate is the slope between the medians of short and of long runs, so that nothing counts in it but steps. What JAX",
        "compiles is kept between runs; the first run, which does not count, compiles.",
        "",
    ]
    contest = Contest(python, arguments.repeats)
    for section in sections:
        page += globals()[f"section_{section}"](contest, cores)
        pathlib.Path(arguments.out).write_text("\n".join(page))


if __name__ == "__main__":
    main()
