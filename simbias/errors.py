"""What is raised for input that cannot be right."""


class BadInput(ValueError):
    """An argument, an option, a file or a stored run is not what it must be.

    The message says which, what it is and what is expected.  Any other ValueError comes
    from elsewhere: from a function of yours, from a library, or from a mistake of ours.

    `advice` says how to go on, and is shown last.
    """

    advice = ""


class MissingFiles(BadInput):
    """Files of a sample are not on this machine; the message says how to get them."""
