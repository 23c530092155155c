"""Draw a vision transformer, which cuts an image into a sequence of tokens for an encoder.

The boxes are named after the attributes of ``VisionTransformer`` in lesson 06.
"""

from jaxtyping import Float
from torch import Tensor

from transformer_course.diagrams.canvas import Diagram
from transformer_course.diagrams.elements import BLUE, FONT_SIZE_PT, GRAY, PINK, Spot

PIXEL_SIZE = 0.085
PATCH_GAP = 0.09


def vision_transformer(image: Float[Tensor, "height width"], patch: int, d_model: int, n_layers: int) -> Diagram:
    """Draw how an image is cut into patches that become the tokens of an encoder.

    Args:
        image: The pixels, from 0 to 1.
        patch: Height and width of a patch, in pixels.
        d_model: Width of the vectors.
        n_layers: Number of encoder layers.

    Raises:
        ValueError: The patches do not tile the image.
    """
    height, width = image.shape
    if height % patch or width % patch:
        raise ValueError(f"patches of {patch} × {patch} pixels do not tile an image of {height} × {width} pixels")
    rows, columns = height // patch, width // patch
    n = rows * columns
    d = Diagram(
        f"An image of {height} × {width} pixels is cut into {n} patches. A linear layer, patches, makes a vector of "
        f"each; positions are added; {n_layers} encoder layers follow, then the mean over the patches, and a linear "
        f"layer, output, that scores the classes.",
        lists=False,
    )
    side = patch * PIXEL_SIZE + PATCH_GAP
    for i in range(rows):
        for j in range(columns):
            pixels = image[i * patch : (i + 1) * patch, j * patch : (j + 1) * patch]
            blank = [[""] * patch] * patch
            d.cells(blank, ((j + 0.5) * side, -(i + 0.5) * side), cell=PIXEL_SIZE, fill=pixels)
    middle = -rows * side / 2
    x = columns * side + 1.5
    linear = d.box("patches", (x, middle), PINK, note=f"Linear({patch**2}, {d_model})")
    d.path([Spot(columns * side + 0.05, middle), linear.left], f"({n}, {patch**2})", label_shift=(0, 0.14))
    plus = d.plus((linear.rect.x1 + 0.35, middle))
    positions = d.box("positions", (plus.x, middle - 0.7), PINK, note=f"({n}, {d_model})")
    d.arrow(linear, plus)
    d.arrow(positions, plus)
    layers = d.box("layers", (plus.x + 1.55, middle), BLUE, note=f"EncoderLayer × {n_layers}")
    d.path([plus.right, layers.left], f"({n}, {d_model})", thick=True, label_shift=(-0.05, 0.2))
    mean = d.box("mean", (layers.rect.x1 + 0.75, middle), GRAY)
    d.path([layers.right, mean.left], thick=True)
    output = d.box("output", (mean.rect.x1 + 1.0, middle), GRAY, note=f"Linear({d_model}, 10)")
    d.path([mean.right, output.left], f"({d_model},)", label_shift=(-0.02, 0.14))
    d.path([output.right, Spot(output.rect.x1 + 0.35, middle)])
    d.text("10 logits", (output.rect.x1 + 0.4, middle), size=FONT_SIZE_PT - 1, align="left")
    return d
