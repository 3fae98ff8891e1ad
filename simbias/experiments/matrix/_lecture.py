"""Columns of the lecture page about every bias, which no run changes.

Source: project page "Quantifying modern inductive biases for deep learning" (CS826),
table of simplicity biases and list of spaces; the last four rows, and the space of
every row, are ours.
"""

from typing import NamedTuple


class Said(NamedTuple):
    """For one bias: its assumptions, its evidence and its space."""

    data: str = ""
    architecture: str = ""
    proof: str = ""
    real_data: str = ""
    space: str = ""


# Input, parameter, hypothesis and Fourier space.
SPACES = {
    "input": "features of the law of the training data that influence the network",
    "parameter": "the weights, which parametrise the chosen functions",
    "hypothesis": "the function that the network learns",
    "Fourier": "the frequencies of that function",
}
SAID = {
    "spectral": Said(
        "uniform and not uniform",
        "two-layer ReLU network, infinitely wide",
        "experiments on toy models; theory: decomposition of the tangent kernel",
        "CNNs on CIFAR-10; ResNets, ViT and transformers on ImageNet",
        "Fourier",
    ),
    "principal": Said(
        "no assumptions",
        "overparametrised linear network, wide enough, any depth",
        "theory: decomposition of XXᵀ, the way of W under GD; experiments",
        "unknown; VGG-19 on CIFAR-10",
        "input",
    ),
    "low_dim": Said(
        "separable; independent features given the label, along the axes",
        "two-layer ReLU network, infinitely wide",
        "theory: kernel matrix, support vectors; experiments",
        "unknown",
        "input",
    ),
    "distributional": Said(
        'separable, on a "rectangular" sample, features along the axes',
        "perceptron",
        "theory: gradient flow of the perceptron",
        "DenseNet121, ResNet18 and ViT on CIFAR-10",
        "input",
    ),
    "weights": Said(
        "separable",
        "homogeneous fully connected ReLU network, the last K layers linear",
        "theory: decomposition of the network",
        "unknown, likely no",
        "parameter",
    ),
    "embeddings": Said(
        "no assumptions",
        "deep network, linear or not",
        "unexplored",
        "unknown; CNN on CIFAR and ImageNet",
        "parameter",
    ),
    "sensitivity": Said(
        architecture="transformers (listed under data)",
        proof="experiments on several models",
        space="hypothesis",
    ),
    "alignment": Said("", "two-layer network, small start", "theory", "", "parameter"),
    "width": Said("", "two-layer network, small start", "theory", "", "parameter"),
    "randomised": Said("", "", "experiments; theory of one step", "", "hypothesis"),
    "information": Said("", "", "experiments", "", "hypothesis"),
}
