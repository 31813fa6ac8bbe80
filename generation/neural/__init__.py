"""All modules that import torch. Only workers import them, and only when a version is loaded."""

import torch
from transformers.utils.logging import (
    disable_default_handler,
    disable_progress_bar,
    enable_propagation,
    set_verbosity_error,
)

# Send messages of transformers to the log of Concord, so that they do not break a progress bar. Its warnings concern
# padding, lengths and generation defaults, which are handled here.
disable_default_handler()
enable_propagation()
set_verbosity_error()
disable_progress_bar()

# Compute float32 at full precision regardless of machine settings. A GPU may otherwise round each factor to TF32, with
# a mantissa of 10 bits.
torch.set_float32_matmul_precision("highest")
torch.backends.cudnn.allow_tf32 = False
# The cuDNN attention kernels are prepared anew for each shape, and here the shape changes with every token and every
# finished text. On an H100 this took most of the time of a bfloat16 run.
torch.backends.cuda.enable_cudnn_sdp(False)
