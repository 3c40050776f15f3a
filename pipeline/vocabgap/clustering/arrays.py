"""What the arrays of this stage hold. Their shapes are said where they are used."""

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
