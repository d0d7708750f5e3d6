#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Gradients per effective draw of nuts and mams, beside BlackJAX's, and writes docs/results/adjusted.md.

    pip install . blackjax arviz && python scripts/compare_adjusted.py [--quick]

Both sides are given the same densities and warm up by themselves. An effective draw is one of the smallest bulk effective
sample size over the coordinates, of x and of x² (four chains); gradients are those of the sampling phase.
"""
import argparse
import pathlib
import statistics
import warnings

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
CHAINS = 4


def densities():
    """name → (d, log-density in JAX's numpy)"""
    import jax.numpy as jnp

    rng = np.random.default_rng(7)
    x = rng.standard_normal((1000, 25)) * np.linspace(0.3, 2, 25)
    truth = rng.standard_normal(25)
    y = jnp.asarray((rng.random(1000) < 1 / (1 + np.exp(-(x @ truth)))).astype(np.float64))
    x = jnp.asarray(x)
    variance = jnp.asarray(np.logspace(-2, 2, 100))

    def logistic(theta):
        logits = x @ theta
        return jnp.sum(y * logits - jnp.logaddexp(0.0, logits)) - 0.5 * jnp.sum(theta**2)

    def gaussian(theta):
        return -0.5 * jnp.sum(theta**2 / variance)

    def student(theta):
        return -5.5 * jnp.sum(jnp.log1p(theta**2 / 10))

    def ridges(theta):
        a, b = theta[0::2], theta[1::2]
        return -0.5 * jnp.sum(a**2) - 2 * jnp.sum((b - a**2 + 1) ** 2)

    return {
        "logistic regression, d = 25": (25, logistic),
        "Gaussian of condition 10,000, d = 100": (100, gaussian),
        "Student t (10), d = 50": (50, student),
        "bent ridges, d = 20": (20, ridges),
    }


def smallest_ess(draws):
    import arviz as az

    draws = np.asarray(draws, dtype=np.float64)
    values = [az.ess(np.ascontiguousarray(f(draws)[:, :, j])) for f in (lambda x: x, np.square) for j in range(draws.shape[2])]
    return float(min(float(np.asarray(v)) for v in values))


def ours(sampler, d, log_density, warmup, draws, seed):
    import jax

    import smile_bnn

    both = jax.jit(jax.value_and_grad(log_density))

    def density(theta):
        value, gradient = both(theta.astype(np.float64))
        return float(value), np.asarray(gradient)

    result = smile_bnn.sample(
        density, np.zeros(d), sampler=sampler, n_chains=CHAINS, warmup_steps=warmup, n_samples=draws, random_state=seed
    )
    return sum(c["gradients"] for c in result.chains) / smallest_ess(result.draws)


def blackjax_nuts(d, log_density, warmup, draws, seed):
    import blackjax
    import jax
    import jax.numpy as jnp

    @jax.jit
    def one(key):
        first, second = jax.random.split(key)
        (state, parameters), _ = blackjax.window_adaptation(blackjax.nuts, log_density).run(first, jnp.zeros(d), num_steps=warmup)
        algorithm = blackjax.nuts(log_density, **parameters)

        def body(state, key):
            state, info = algorithm.step(key, state)
            return state, (state.position, info.num_integration_steps)

        return jax.lax.scan(body, state, jax.random.split(second, draws))[1]

    found = [one(key) for key in jax.random.split(jax.random.key(seed), CHAINS)]
    return sum(float(np.sum(n)) for _, n in found) / smallest_ess(np.stack([np.asarray(x) for x, _ in found]))


def blackjax_mams(d, log_density, warmup, draws, seed):
    import blackjax
    import jax
    import jax.numpy as jnp
    from blackjax.mcmc import adjusted_mclmc_dynamic as dynamic

    kernel = dynamic.build_kernel(
        integration_steps_fn=lambda key, mean: jnp.ceil(jax.random.uniform(key) * dynamic.rescale(mean)).astype(int),
        integrator=blackjax.mcmc.integrators.isokinetic_velocity_verlet,
    )

    def one(key):
        first, second, third = jax.random.split(key, 3)
        state = dynamic.init(jnp.zeros(d), log_density, first)
        state, parameters = blackjax.adjusted_mclmc_find_L_and_step_size(
            kernel, log_density, 5 * warmup, state, second, target=0.9  # two tenths of the steps are its warm-up
        )[:2]
        mean = parameters.L / parameters.step_size

        @jax.jit
        def chain(key):
            def body(state, key):
                state, info = kernel(
                    key, state, log_density, parameters.step_size,
                    inverse_mass_matrix=parameters.inverse_mass_matrix, integration_steps_params=(mean,),
                )  # fmt: skip
                return state, (state.position, info.num_integration_steps)

            return jax.lax.scan(body, state, jax.random.split(key, draws))[1]

        return chain(third)

    found = [one(key) for key in jax.random.split(jax.random.key(seed), CHAINS)]
    return sum(float(np.sum(n)) for _, n in found) / smallest_ess(np.stack([np.asarray(x) for x, _ in found]))


def main():
    import jax

    jax.config.update("jax_enable_x64", True)
    warnings.filterwarnings("ignore")
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="one seed")
    parser.add_argument("--out", default=str(ROOT / "docs" / "results" / "adjusted.md"))
    options = parser.parse_args()
    warmup, draws, seeds = 1000, 2000, [1] if options.quick else [1, 2, 3]
    lines = []
    for name, (d, log_density) in densities().items():
        row = [name]
        for mine, theirs in (("nuts", blackjax_nuts), ("mams", blackjax_mams)):
            a = statistics.median(ours(mine, d, log_density, warmup, draws, seed) for seed in seeds)
            try:
                b = statistics.median(theirs(d, log_density, warmup, draws, seed) for seed in seeds)
                row += [f"{a:.1f}", f"{b:.1f}", f"{a / b:.2f}"]
            except Exception as error:  # the interface of the other library has moved
                print(f"{theirs.__name__}: {type(error).__name__}: {error}")
                row += [f"{a:.1f}", "-", "-"]
        lines.append("| " + " | ".join(row) + " |")
        print(lines[-1], flush=True)
    import blackjax

    text = f"""# nuts and mams beside another implementation

Gradients per effective draw: evaluations of the sampling phase over the smallest bulk effective sample size of the coordinates
and of their squares. Four chains of {warmup:,} transitions of warm-up and {draws:,} of sampling from the origin, median of {len(seeds)}
seeds; both sides adapt by themselves (BlackJAX {blackjax.__version__}: `window_adaptation`;
`adjusted_mclmc_find_L_and_step_size` with its defaults, acceptance 0.9 and velocity Verlet). Ratio below 1: fewer gradients here.

    pip install . blackjax arviz && python scripts/compare_adjusted.py

| density | nuts | BlackJAX | ratio | mams | BlackJAX | ratio |
|---|---|---|---|---|---|---|
""" + "\n".join(lines) + "\n"
    pathlib.Path(options.out).write_text(text)


if __name__ == "__main__":
    main()
