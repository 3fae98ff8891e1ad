"""A film: frames that are drawn one at a time, and files of them."""

import base64
import dataclasses
import io
import os
import pathlib
import tempfile
from collections.abc import Iterator

import numpy as np
from jaxtyping import Float, Int, UInt8
from matplotlib.animation import FFMpegWriter
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image

from simbias.errors import BadInput
from simbias.figures.style import style
from simbias.films.panel import Show

PER_SECOND = 12
# Frames for which the last one stays.
_REST = 18
_COLOURS = 96
SUFFIXES = (".gif", ".mp4")


@dataclasses.dataclass(frozen=True, repr=False)
class Film:
    """Frames of one member; `film.save("film.gif")`, or as it is in a notebook.

    Args:
        kinds: what is shown, panel by panel.
        label: which member it is.
        times: of the frames.
        records: their numbers among the records that `values` holds.
        values: what moves, by name, one row per record.
        figure: the one that is drawn on.
        shows: what draws a record in every panel.
    """

    kinds: tuple[str, ...]
    label: str
    times: Float[np.ndarray, " frame"]
    records: Int[np.ndarray, " frame"]
    values: dict[str, Float[np.ndarray, "t ..."]]
    figure: Figure
    shows: tuple[Show, ...]

    def __len__(self) -> int:
        return len(self.times)

    def __repr__(self) -> str:
        return f"<Film: {', '.join(self.kinds)} of {self.label}>"

    def frame(self, number: int) -> Figure:
        """The figure with the frame of a number; −1 is the last one."""
        record = int(self.records[number])
        with style():
            for show in self.shows:
                show(record)
        return self.figure

    def pixels(self, number: int) -> UInt8[np.ndarray, "height width 3"]:
        """The frame of a number, as it goes into a file."""
        figure = self.frame(number)
        canvas = FigureCanvasAgg(figure)
        with style():
            canvas.draw()
        # Nothing moves that does not have to.
        figure.set_layout_engine("none")
        return np.array(canvas.buffer_rgba())[..., :3]

    def gif(self) -> bytes:
        """The film as a GIF that begins again at its end."""
        frames = [Image.fromarray(self.pixels(i)) for i in range(len(self))]
        palette = _palette(frames)
        plain = Image.Dither.NONE
        frames = [frame.quantize(palette=palette, dither=plain) for frame in frames]
        each = 1000 // PER_SECOND
        held = [*[each] * (len(frames) - 1), each * _REST]
        file = io.BytesIO()
        options = {"save_all": True, "loop": 0, "duration": held, "optimize": True}
        frames[0].save(file, "GIF", append_images=frames[1:], **options)
        return file.getvalue()

    def mp4(self) -> bytes:
        """The film as an MP4.

        Raises:
            ValueError: where there is no ffmpeg.
        """
        if not FFMpegWriter.isAvailable():
            raise BadInput(
                "an MP4 is written by ffmpeg, which is not found here. Install it, or "
                "write a GIF: film.gif."
            )
        writer = FFMpegWriter(
            PER_SECOND, extra_args=["-pix_fmt", "yuv420p", "-vf", _EVEN]
        )
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "film.mp4"
            self.pixels(0)
            with writer.saving(self.figure, str(path), self.figure.dpi):
                for number in [*range(len(self)), *[-1] * _REST]:
                    self.frame(number)
                    writer.grab_frame()
            return path.read_bytes()

    def encoded(self, suffix: str) -> bytes:
        """The film as a file with that suffix.

        Raises:
            ValueError: if it is neither .gif nor .mp4, or for an MP4 without ffmpeg.
        """
        if suffix not in SUFFIXES:
            raise BadInput(
                f"a film is a .gif or an .mp4, got {suffix!r}. Example: film.gif."
            )
        return self.gif() if suffix == ".gif" else self.mp4()

    def save(self, path: str | os.PathLike) -> None:
        """Write NAME.gif or NAME.mp4.

        Raises:
            ValueError: for another suffix, or an MP4 where there is no ffmpeg.
        """
        path = pathlib.Path(path)
        path.write_bytes(self.encoded(path.suffix))

    def _repr_html_(self) -> str:
        text = base64.b64encode(self.gif()).decode()
        said = f"{', '.join(self.kinds)} of {self.label}"
        return f'<img src="data:image/gif;base64,{text}" alt="{said}">'


# H.264 with this format has even sides.
_EVEN = "pad=ceil(iw/2)*2:ceil(ih/2)*2"


def _palette(frames: list[Image.Image]) -> Image.Image:
    """One for all frames, so that what stays has the same colour in each of them."""
    some = [frames[i] for i in _spread(len(frames), 6)]
    strip = Image.new("RGB", (some[0].width, sum(f.height for f in some)))
    for i, frame in enumerate(some):
        strip.paste(frame, (0, i * frame.height))
    return strip.quantize(_COLOURS, Image.Quantize.MAXCOVERAGE)


def _spread(count: int, wanted: int) -> Iterator[int]:
    yield from np.unique(np.linspace(0, count - 1, wanted).round().astype(int)).tolist()
