"""What the arrays of this stage hold, and the grid that similarities lie on. Shapes are said elsewhere."""

from typing import Final

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

# Similarities and distances are rounded to steps of about 1e-12, so that what rounding has told apart is a
# tie again, but for the few that lie on either side of a step.
GRID: Final = 2.0**40


def on_grid(values: FloatArray) -> FloatArray:
    """Similarities or distances, rounded to the nearest step of the grid."""
    return np.asarray(np.floor(values * GRID + 0.5) / GRID)
