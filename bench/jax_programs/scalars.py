"""Random numbers, special functions and integer arithmetic of JAX."""

# ruff: noqa: E501, E702, E731, E741 (one line for each function)
from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .layers import RANDOM, add, f, i8, i32

KEY = np.array([0, 42], np.uint32)
add("normal", lambda k: jax.random.normal(k, (5, 7)), KEY)
add("uniform", lambda k: jax.random.uniform(k, (33,)), KEY)
add("bernoulli", lambda k: jax.random.bernoulli(k, 0.3, (5, 7)), KEY)
add("categorical", lambda k, l: jax.random.categorical(k, l, axis=1), KEY, f(6, 9))
add("permutation", lambda k: jax.random.permutation(k, 17), KEY)
add("choice", lambda k: jax.random.choice(k, 20, (5,), replace=False), KEY)
add("randint", lambda k: jax.random.randint(k, (40,), 3, 90), KEY)
add("gumbel", lambda k: jax.random.gumbel(k, (7,)), KEY)
add("trunc_normal", lambda k: jax.random.truncated_normal(k, -1.0, 2.0, (9,)), KEY)
add("exponential", lambda k: jax.random.exponential(k, (9,)), KEY)
add("dropout", lambda k, x: jnp.where(jax.random.bernoulli(k, 0.8, x.shape), x / 0.8, 0), KEY, f(9, 9))
add("gamma", lambda k: jax.random.gamma(k, 2.5, (4,)), KEY)
add("poisson", lambda k: jax.random.poisson(k, 3.0, (9,)), KEY)
add("split", lambda k: jax.random.split(k, 5), KEY)
add("laplace", lambda k: jax.random.laplace(k, (9,)), KEY)
WIDE = f(30)
for special in (lax.erf, lax.erfc, lax.bessel_i0e, lax.bessel_i1e):
    add(f"lax_{special.__name__}", special, WIDE)
for special in (lax.lgamma, lax.digamma):
    add(f"lax_{special.__name__}", special, abs(WIDE) + 0.3)
add("lax_erf_inv", lax.erf_inv, np.tanh(WIDE))
add("igamma", lax.igamma, abs(f(12)) + 0.5, abs(f(12)) + 0.5)
add("igammac", lax.igammac, abs(f(12)) + 0.5, abs(f(12)) + 0.5)
add(
    "betainc", lax.betainc, abs(f(12)) + 0.5, abs(f(12)) + 0.5, (np.tanh(abs(f(12))) * 0.9).astype(np.float32)
)
add("polygamma", lax.polygamma, np.ones(5, np.float32), abs(f(5)) + 1)
add("zeta", lax.zeta, abs(f(5)) + 2, abs(f(5)) + 1)
add("popcount", lax.population_count, i32(2**31 - 1, 40))
add("clz", lax.clz, i32(2**31 - 1, 40) >> 3)
add("popcount8", lambda a: lax.population_count(a), i8(40))
add("nextafter", lax.nextafter, f(20), f(20))
add("reduce_precision", lambda a: lax.reduce_precision(a, 5, 7), f(40))
add("bitcast", lambda a: lax.bitcast_convert_type(a, jnp.int32), f(20))
add("bitcast8", lambda a: lax.bitcast_convert_type(a, jnp.int8), f(20))
add("shift", lambda a, b: (a << b, a >> b, lax.shift_right_logical(a, b)), i32(1000, 20) - 500, i32(31, 20))
add(
    "shift8",
    lambda a, b: (a << b, a >> b, lax.shift_right_logical(a, b)),
    i8(20),
    RANDOM.integers(0, 8, 20).astype(np.int8),
)
add(
    "divmod",
    lambda a, b: (a // b, a % b, lax.div(a, b), lax.rem(a, b)),
    i32(100, 20) - 50,
    np.where(i32(2, 20) > 0, 3, -7).astype(np.int32),
)
add("fmod", lambda a, b: (a % b, jnp.fmod(a, b), a // b), f(20) * 5, f(20) + 3)
add("divmod8", lambda a, b: (a // b, a % b), i8(20), np.where(i32(2, 20) > 0, 3, -7).astype(np.int8))
add("pow_int", lambda a: a**5, i8(20))
add("ipow", lambda a, b: jnp.power(a, b), i32(5, 20), i32(6, 20))
add(
    "round",
    lambda a: (jnp.round(a), jnp.round(a, 1), jnp.floor(a), jnp.ceil(a), jnp.trunc(a), jnp.rint(a)),
    f(40) * 3,
)
add("sign", lambda a: (jnp.sign(a), jnp.signbit(a), jnp.copysign(a, -a)), f(20))
add(
    "hypot",
    lambda a, b: (jnp.hypot(a, b), jnp.logaddexp(a, b), jnp.arctan2(a, b), jnp.float_power(jnp.abs(a), b)),
    f(20),
    f(20),
)
add(
    "misc",
    lambda a: (
        jnp.sinc(a),
        jnp.cbrt(a),
        jnp.expm1(a),
        jnp.log1p(jnp.abs(a)),
        jnp.exp2(a),
        jnp.arcsinh(a),
        jnp.arccosh(1 + jnp.abs(a)),
        jnp.arctanh(jnp.tanh(a) * 0.9),
        jnp.nan_to_num(a / 0),
    ),
    f(20),
)
add(
    "trig",
    lambda a: (
        jnp.tan(a),
        jnp.arcsin(jnp.tanh(a)),
        jnp.arccos(jnp.tanh(a)),
        jnp.arctan(a),
        jnp.sinh(a),
        jnp.cosh(a),
    ),
    f(20),
)
add(
    "isx",
    lambda a: (jnp.isnan(a), jnp.isinf(a), jnp.isfinite(a)),
    np.array([1, np.nan, np.inf, -np.inf, 0], np.float32),
)
