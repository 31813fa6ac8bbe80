"""Everything that imports torch. Only workers import these modules, and only when a version is loaded."""

import torch
from transformers.utils.logging import (
    disable_default_handler,
    disable_progress_bar,
    enable_propagation,
    set_verbosity_error,
)

# What transformers says goes into our log, in its form, and not past it into the middle of a bar. Its warnings are of
# what is seen to here: padding, lengths, defaults of generation.
disable_default_handler()
enable_propagation()
set_verbosity_error()
disable_progress_bar()

# What a version calls float32 is float32, whatever the machine's settings say: a GPU may else round each number to
# TF32, of 10 bits, before it multiplies.
torch.set_float32_matmul_precision("highest")
torch.backends.cudnn.allow_tf32 = False
# Of attention's kernels cuDNN's prepare themselves anew for each shape, and here every token and every text that ends
# makes another: on an H100 most of the time of a run in bfloat16 went there.
torch.backends.cuda.enable_cudnn_sdp(False)
