"""AUC of an ensemble: networks trained apart whose outputs are averaged."""

import numpy as np
import scipy
import xarray as xr

from simbias.errors import BadInput


def ensemble_auc(
    logits: xr.DataArray, labels: np.ndarray, *, dim: str = "seed"
) -> xr.DataArray:
    """Area under the ROC curve of the mean logit over `dim`.

    Ties count half.

    Args:
        logits: outputs of every network on the same inputs, with an axis `sample`, as
            recorded by `RandomisedLogits`.
        labels: positive or not (> 0) for every sample.
        dim: the axis of the networks.

    Returns:
        The AUC, without the axes `dim` and `sample`; NaN where a logit is missing or
        a class is empty.

    Raises:
        ValueError: if an axis is missing or the labels are of another number.
    """
    for name in (dim, "sample"):
        if name not in logits.dims:
            raise BadInput(f"`logits` must have an axis {name!r}, has {logits.dims}.")
    if labels.shape != (logits.sizes["sample"],):
        raise BadInput(
            f"`labels` must be one per sample, ({logits.sizes['sample']},), got "
            f"{labels.shape}."
        )
    mean = logits.mean(dim, skipna=False)
    return xr.apply_ufunc(
        lambda score: _auc(score, labels > 0), mean, input_core_dims=[["sample"]]
    )


def _auc(score: np.ndarray, is_positive: np.ndarray) -> np.ndarray:
    """Mann–Whitney's statistic along the last axis."""
    positive, negative = is_positive.sum(), (~is_positive).sum()
    if not (positive and negative):
        return np.full(score.shape[:-1], np.nan)
    rank = scipy.stats.rankdata(score, axis=-1, nan_policy="propagate")
    won = rank[..., is_positive].sum(-1) - positive * (positive + 1) / 2
    return won / (positive * negative)
