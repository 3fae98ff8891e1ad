"""Do claims of two pages come out alike in NumPy and SciPy, written from them alone?

    python benchmarks/plain_scipy.py [--json FILE|-] [--only NAME ...] [--smallest]

As `plain_numpy.py`, for flows that need an integrator: the degrees of times of escape
of deep tanh and linear networks, and exponents of channels of erf networks.
"""

import itertools
import math

import numpy as np
import scipy
from plain_numpy import Found, main, median, share

LEVELS = (0.16, 0.04, 0.01)
# φ, and its slope as a function of φ.
TANH = (np.tanh, lambda h: 1 - h**2)
LINEAR = (lambda z: z, np.ones_like)


def deep_escape(is_smallest: bool) -> dict[str, Found]:
    """2 + ln(ΔT₂/ΔT₁)/ln 4 for the last r of five matrices times ε."""
    seeds, degrees = (2, (2,)) if is_smallest else (12, (2, 3))
    found = {}
    for (name, phi), r in itertools.product(
        {"tanh": TANH, "linear": LINEAR}.items(), degrees
    ):
        values = []
        for seed in range(seeds):
            times = [_escape(seed, r, level, phi) for level in LEVELS]
            first, second = np.diff(times)
            # From ε = 0.16 f may be so large that the order is another.
            if min(first, second) > 0:
                values.append(2 + math.log(second / first) / math.log(4))
        text = f"{name}: r = {r}: degree from times of escape"
        found[text] = median(np.array(values))
    return found


def _escape(seed: int, r: int, level: float, phi: tuple) -> float:
    """The first time at which the loss is 0.9 of that of f = 0."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((20, 5))
    y = x @ np.full(5, 5**-0.5) + 0.3 * rng.standard_normal(20)
    shapes = [(16, 5), (16, 16), (16, 16), (16, 16), (1, 16)]
    start = [(2 / s[1]) ** 0.5 * rng.standard_normal(s) for s in shapes]
    start = [w * (level if k >= 5 - r else 1) for k, w in enumerate(start)]
    ends = np.cumsum([w.size for w in start])[:-1]
    act, slope = phi

    def forward(theta):
        ws = [v.reshape(s) for v, s in zip(np.split(theta, ends), shapes, strict=True)]
        zs, hs = [], [x.T]
        for w in ws:
            zs.append(w @ hs[-1])
            hs.append(act(zs[-1]) if len(zs) < 5 else zs[-1])
        return ws, zs, hs, hs[-1][0] - y

    def speed(_, theta):
        ws, zs, hs, rest = forward(theta)
        back, out = rest[None] / 20, []
        for k in range(4, -1, -1):
            out.append((-back @ hs[k].T).ravel())
            if k:
                back = (ws[k].T @ back) * slope(hs[k])
        return np.concatenate(out[::-1])

    def escaped(_, theta):
        return np.mean(forward(theta)[3] ** 2) - 0.9 * np.mean(y**2)

    escaped.terminal = True
    begin = np.concatenate([w.ravel() for w in start])
    if escaped(0.0, begin) < 0:
        return 0.0
    flow = scipy.integrate.solve_ivp(
        speed,
        (0, 1e9),
        begin,
        method="LSODA",
        events=escaped,
        rtol=1e-8,
        atol=1e-10,
    )
    return float(flow.t[-1])


def flat_channels(is_smallest: bool) -> dict[str, Found]:
    """Share of erf networks of 4 neurons in a channel at t = 10⁷, and its exponents."""
    rng = np.random.default_rng(0)
    ends = [_channel(rng) for _ in range(2 if is_smallest else 120)]
    inside = np.array([v for v in ends if v is not None]).reshape(-1, 2)
    found = {"erf, m = 4: share in a channel": share(len(inside), len(ends))}
    if len(inside):
        found["erf, m = 4: exponent of a in t"] = median(inside[:, 0])
        found["erf, m = 4: exponent of |wᵢ − wⱼ| in t"] = median(inside[:, 1])
    return found


def _channel(rng: np.random.Generator) -> tuple[float, float] | None:
    """Exponents of a and of the distance over the last decade, if in a channel."""
    x = rng.standard_normal((60, 2))
    y = np.sin(2 * x[:, 0]) + x[:, 0] * x[:, 1]
    x = np.concatenate([x, np.ones((60, 1))], axis=1)
    start = rng.uniform(-1, 1, 16) * np.repeat([2**-0.5, 0.5], [12, 4])

    def parts(theta):
        w, a = theta[:12].reshape(4, 3), theta[12:]
        z = x @ w.T
        h, d1 = scipy.special.erf(z), 2 / math.sqrt(math.pi) * np.exp(-(z**2))
        return a, z, h, d1, (h @ a - y) / 60

    def speed(_, theta):
        a, _, h, d1, rest = parts(theta)
        return -np.concatenate([((rest[:, None] * d1 * a).T @ x).ravel(), h.T @ rest])

    def jacobian(_, theta):
        a, z, h, d1, rest = parts(theta)
        each = np.einsum("nj,nk->njk", d1 * a, x).reshape(60, 12)
        each = np.concatenate([each, h], axis=1)
        out = each.T @ each / 60
        for j in range(4):
            own = slice(3 * j, 3 * j + 3)
            bend = rest * a[j] * -2 * z[:, j] * d1[:, j]
            out[own, own] += (x * bend[:, None]).T @ x
            cross = x.T @ (rest * d1[:, j])
            out[own, 12 + j] += cross
            out[12 + j, own] += cross
        return -out

    at = np.logspace(6, 7, 11)
    flow = scipy.integrate.solve_ivp(
        speed,
        (0, 1e7),
        start,
        method="LSODA",
        t_eval=at,
        jac=jacobian,
        rtol=1e-6,
        atol=1e-9,
    )
    pairs = np.array([_closest(theta) for theta in flow.y.T])
    if len(pairs) < len(at):
        return None
    slope_a, slope_w = np.polyfit(np.log(at), np.log(pairs[:, :2]), 1)[0]
    is_one = abs(math.log(pairs[-1, 2] / pairs[0, 2])) < math.log(1.1)
    is_in = slope_a > 0.1 and slope_w < -0.1 and is_one
    return (slope_a, slope_w) if is_in else None


def _closest(theta: np.ndarray) -> tuple[float, float, float]:
    """a, relative distance and a |wᵢ − wⱼ| of the closest pair with aᵢaⱼ < 0."""
    w, a = theta[:12].reshape(4, 3), theta[12:]
    found = []
    for i, j in itertools.combinations(range(4), 2):
        sign = -1 if a[i] * a[j] > 0 else 1  # erf is odd: (a, w) is (−a, −w)
        distance = np.linalg.norm(w[i] - sign * w[j])
        whole = np.linalg.norm(w[i]) + np.linalg.norm(w[j])
        size = abs(a[i] - sign * a[j]) / 2
        found.append((distance / whole, size, size * distance))
    distance, size, product = min(found)
    return size, distance, product


if __name__ == "__main__":
    main({"deep_escape": deep_escape, "flat_channels": flat_channels}, __doc__)
