"""The sample size beyond which networks stop interpolating."""

import dataclasses

import numpy as np
import scipy.special
import xarray as xr
from jaxtyping import Bool, Float

_METHOD = "logistic in ln n with Firth's penalty; percentiles over resampled seeds"
# Of the scoring: in units of the standardised ln n.
_MAX_STEPS = 200
_TOLERANCE = 1e-10
_LONGEST = 5.0


@dataclasses.dataclass(frozen=True)
class Threshold:
    """n*, where a member interpolates with probability ½, and how well it is known.

    `estimate`, `low` and `high` are NaN unless `is_bracketed`; `low` is 0 and `high`
    infinite where the resamples do not bound n* on that side.  The two other estimates
    count the `n_failed` failed members as interpolating or not, instead of leaving
    them out.
    """

    estimate: float
    low: float
    high: float
    is_bracketed: bool
    n_failed: int
    estimate_if_failures_interpolate: float
    estimate_if_failures_do_not: float
    method: str

    def describe(self) -> str:
        """The result in one or two sentences."""
        if self.is_bracketed:
            text = f"n* = {self.estimate:.4g} [{self.low:.4g}, {self.high:.4g}]"
        else:
            text = "n* is not bracketed by the sampled n"
        text += f" ({self.method})."
        if self.n_failed:
            text += (
                f" {self.n_failed} failed members left out; n* is "
                f"{self.estimate_if_failures_interpolate:.4g} if they interpolate and "
                f"{self.estimate_if_failures_do_not:.4g} if they do not."
            )
        return text


def threshold(
    interpolates: xr.DataArray,
    level: float = 0.95,
    resamples: int = 500,
    rng_seed: int = 0,
) -> Threshold:
    """n* of P(interpolates) = 1/(1 + exp(−(α + β ln n))), n* = exp(−α/β), β < 0.

    (α, β) maximise the log-likelihood plus Firth's ½ ln det I(α, β), which is finite
    when no n has members of both kinds.  Seeds are resampled together over all n, for
    members of one seed may share their draws.

    n* is bracketed if the observed fraction exceeds ½ at some n and is below ½ at a
    larger one, and the fitted curve falls through ½ between the smallest and the
    largest n.  A resample that brackets nothing counts as n* = ∞ if most of its members
    interpolate, and as 0 if not.

    Args:
        interpolates: 1 or 0 over (n, seed); NaN for a member that failed.
        level: coverage aimed at.
        resamples: draws of seeds with replacement.
        rng_seed: of the draws.

    Raises:
        ValueError: if dimensions, values, n, level or resamples cannot be meant.

    Reference: Firth (1993), Biometrika 80, 27; Heinze & Schemper (2002), Stat. Med. 21.
    """
    values = _checked(interpolates, level, resamples)
    log_n = np.log(np.sort(interpolates["n"].values.astype(float)))
    is_failed = np.isnan(values)
    estimate, if_they_do, if_they_do_not = (
        _finite(_crossings(v[None], log_n)[0])
        for v in (
            values,
            np.where(is_failed, 1.0, values),
            np.where(is_failed, 0.0, values),
        )
    )
    low = high = float("nan")
    is_bracketed = bool(np.isfinite(estimate))
    if is_bracketed:
        seeds = values.shape[1]
        draws = np.random.default_rng(rng_seed).integers(seeds, size=(resamples, seeds))
        many = _crossings(values[:, draws].transpose(1, 0, 2), log_n)
        ends = [(1 - level) / 2, (1 + level) / 2]
        # No interpolation: between a number and infinity it would give infinity.
        low, high = (float(v) for v in np.quantile(many, ends, method="inverted_cdf"))
    return Threshold(
        estimate=estimate,
        low=low,
        high=high,
        is_bracketed=is_bracketed,
        n_failed=int(is_failed.sum()),
        estimate_if_failures_interpolate=if_they_do,
        estimate_if_failures_do_not=if_they_do_not,
        method=_METHOD,
    )


def _checked(
    interpolates: xr.DataArray, level: float, resamples: int
) -> Float[np.ndarray, "c s"]:
    """The values with n rising; raises ValueError."""
    if set(interpolates.dims) != {"n", "seed"} or "n" not in interpolates.coords:
        raise ValueError(
            "`interpolates` must have the dimensions n and seed, with the values of n "
            f"as a coordinate, got {interpolates.dims}. Example: "
            "(ds.train_risk.isel(time=-1) < 1e-4).where(is_finished(ds))."
        )
    values = interpolates.sortby("n").transpose("n", "seed").values.astype(float)
    if not np.all(np.isnan(values) | (values == 0) | (values == 1)):
        raise ValueError(
            "`interpolates` must hold 1, 0 or NaN (failed) only, got values from "
            f"{np.nanmin(values):g} to {np.nanmax(values):g}. Compare the risk with a "
            "level first."
        )
    if not np.all(interpolates["n"].values > 0):
        raise ValueError("`n` must be positive: the fit is in ln n.")
    if not 0 < level < 1:
        raise ValueError(
            f"`level` must lie in (0, 1), got {level}. Example: level=0.95."
        )
    if resamples < 1:
        raise ValueError(
            f"`resamples` must be a positive integer, got {resamples}. "
            "Example: resamples=500."
        )
    return values


def _finite(n: float) -> float:
    return float(n) if 0 < n < np.inf else float("nan")


def _crossings(
    values: Float[np.ndarray, "r c s"], log_n: Float[np.ndarray, " c"]
) -> Float[np.ndarray, " r"]:
    """n* of every table; ∞ or 0 where it brackets nothing."""
    successes = np.nansum(values, axis=2)
    trials = np.sum(~np.isnan(values), axis=2).astype(float)
    mostly = 2 * successes.sum(axis=1) > trials.sum(axis=1)
    result = np.where(mostly, np.inf, 0.0)
    falls = np.flatnonzero(_falls_through_half(successes, trials))
    if len(falls):
        spread = np.std(log_n)
        x = (log_n - np.mean(log_n)) / spread
        beta = _firth(x, successes[falls], trials[falls])
        has_slope = beta[:, 1] < 0
        root = -beta[:, 0] / np.where(has_slope, beta[:, 1], -1.0)
        is_inside = has_slope & (x[0] <= root) & (root <= x[-1])
        n = np.exp(np.mean(log_n) + spread * np.where(is_inside, root, 0.0))
        result[falls] = np.where(is_inside, n, result[falls])
    return result


def _falls_through_half(
    successes: Float[np.ndarray, "r c"], trials: Float[np.ndarray, "r c"]
) -> Bool[np.ndarray, " r"]:
    """Fraction above ½ at some n and below ½ at a larger one."""
    was_above = np.logical_or.accumulate(2 * successes > trials, axis=1)
    return np.any(was_above & (2 * successes < trials), axis=1)


def _firth(
    x: Float[np.ndarray, " c"],
    successes: Float[np.ndarray, "r c"],
    trials: Float[np.ndarray, "r c"],
) -> Float[np.ndarray, "r 2"]:
    """(α, β) of every table, by Fisher scoring with halved steps.

    Every table must have trials at two different x: I is singular otherwise.
    """
    design = np.stack([np.ones_like(x), x], axis=1)
    beta = np.zeros((len(successes), 2))
    value, step = _likelihood_and_step(beta, design, successes, trials)
    for _ in range(_MAX_STEPS):
        if np.max(np.abs(step)) < _TOLERANCE:
            break
        new = beta + step
        new_value, new_step = _likelihood_and_step(new, design, successes, trials)
        # Equality: at the maximum rounding hides the gain of the last steps.
        is_better = (new_value >= value - 1e-12 * np.abs(value))[:, None]
        beta = np.where(is_better, new, beta)
        value = np.where(is_better[:, 0], new_value, value)
        step = np.where(is_better, new_step, step / 2)
    return beta


def _likelihood_and_step(
    beta: Float[np.ndarray, "r 2"],
    design: Float[np.ndarray, "c 2"],
    successes: Float[np.ndarray, "r c"],
    trials: Float[np.ndarray, "r c"],
) -> tuple[Float[np.ndarray, " r"], Float[np.ndarray, "r 2"]]:
    """Penalised log-likelihood and the scoring step I⁻¹U, at most 5 long.

    U = Σ_c (k_c − t_c p_c + h_c (½ − p_c)) x_c, h_c = t_c p_c (1 − p_c) x_cᵀI⁻¹x_c.
    """
    eta = beta @ design.T
    p = scipy.special.expit(eta)
    variance = trials * p * (1 - p)
    information = np.einsum("rc,ci,cj->rij", variance, design, design)
    sign, log_det = np.linalg.slogdet(information)
    # A step too far saturates every p; it is refused below, whatever it leads to.
    is_regular = (sign > 0) & (log_det > -600)
    information[~is_regular] = np.eye(2)
    inverse = np.linalg.inv(information)
    leverage = variance * np.einsum("ci,rij,cj->rc", design, inverse, design)
    score = (successes - trials * p + leverage * (0.5 - p)) @ design
    step = np.einsum("rij,rj->ri", inverse, score)
    length = np.linalg.norm(step, axis=1, keepdims=True)
    step = step * np.minimum(1, _LONGEST / np.where(length > 0, length, 1))
    likelihood = np.sum(successes * eta - trials * np.logaddexp(0, eta), axis=1)
    return np.where(is_regular, likelihood + log_det / 2, -np.inf), step
