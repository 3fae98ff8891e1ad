"""Which kind of film some bytes are."""


def kind_of_film(content: bytes) -> str:
    """`gif`, `mp4`, or nothing for anything else, by how they begin."""
    if content.startswith((b"GIF87a", b"GIF89a")):
        return "gif"
    return "mp4" if content[4:8] == b"ftyp" else ""
