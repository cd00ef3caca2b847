"""Operators and models under torch's own counter and under the profiler.

    python counted_programs.py TRACE.json

Each program runs in an annotation of its name. Prints its operations as `FlopCounterMode` counts
them, as JSON by name.
"""

import json
import sys
import warnings
from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.nn import functional
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.profiler import ProfilerActivity, profile, record_function
from torch.utils.flop_counter import FlopCounterMode

Program = Callable[[], object]


def tensor(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, requires_grad=True)


def trained(module: Callable[..., Any], *shapes: tuple[int, ...]) -> Program:
    """Return a program that runs a module or a function, forward and backward."""

    def run() -> None:
        module(*(tensor(*shape) for shape in shapes)).sum().backward()

    return run


def attention(**options: Any) -> Callable[..., torch.Tensor]:
    return lambda *qkv: functional.scaled_dot_product_attention(*qkv, **options)


def flux() -> None:
    from diffusers import FluxTransformer2DModel

    model = FluxTransformer2DModel(
        patch_size=1,
        in_channels=4,
        num_layers=1,
        num_single_layers=1,
        attention_head_dim=16,
        num_attention_heads=2,
        joint_attention_dim=32,
        pooled_projection_dim=32,
        axes_dims_rope=(4, 4, 8),
    )
    model(
        hidden_states=tensor(1, 16, 4),
        encoder_hidden_states=tensor(1, 8, 32),
        pooled_projections=tensor(1, 32),
        timestep=torch.ones(1),
        img_ids=torch.zeros(16, 3),
        txt_ids=torch.zeros(8, 3),
    ).sample.sum().backward()


def sd3() -> None:
    from diffusers import SD3Transformer2DModel

    model = SD3Transformer2DModel(
        sample_size=8,
        patch_size=1,
        in_channels=4,
        num_layers=2,
        attention_head_dim=8,
        num_attention_heads=4,
        joint_attention_dim=32,
        caption_projection_dim=32,
        pooled_projection_dim=64,
        out_channels=4,
    )
    model(
        hidden_states=tensor(1, 4, 8, 8),
        encoder_hidden_states=tensor(1, 10, 32),
        pooled_projections=tensor(1, 64),
        timestep=torch.ones(1),
    ).sample.sum().backward()


IMAGE = (2, 4, 9, 11)
QUERY = (2, 4, 7, 8)
KEYS = (2, 4, 9, 8)
PROGRAMS: dict[str, Program] = {
    "mm": trained(torch.mm, (4, 5), (5, 6)),
    "bmm": trained(torch.bmm, (2, 4, 5), (2, 5, 6)),
    "addmm": trained(torch.addmm, (6,), (4, 5), (5, 6)),
    "baddbmm": trained(torch.baddbmm, (2, 4, 6), (2, 4, 5), (2, 5, 6)),
    "linear": trained(nn.Linear(5, 6), (2, 3, 5)),
    "linear without bias": trained(nn.Linear(5, 6, bias=False), (2, 3, 5)),
    "linear without rows": trained(nn.Linear(5, 6), (0, 5)),
    "broadcast matmul": trained(torch.matmul, (2, 1, 4, 5), (3, 5, 6)),
    "einsum": trained(lambda a, b: torch.einsum("bij,bjk->bik", a, b), (2, 3, 4), (2, 4, 5)),
    "conv1d": trained(nn.Conv1d(3, 4, 3), (2, 3, 9)),
    "conv2d": trained(nn.Conv2d(4, 6, 3, padding=1, stride=2), IMAGE),
    "conv2d without bias": trained(nn.Conv2d(4, 6, (3, 1), bias=False), IMAGE),
    "conv2d of one image": trained(nn.Conv2d(4, 6, 3), IMAGE[1:]),
    "conv2d of the same size": trained(nn.Conv2d(4, 6, 3, padding="same"), IMAGE),
    "conv2d of an even kernel": trained(nn.Conv2d(4, 6, 4, padding="same"), IMAGE),
    "dilated": trained(nn.Conv2d(4, 6, 3, dilation=2), IMAGE),
    "conv3d": trained(nn.Conv3d(2, 3, 3), (1, 2, 5, 6, 7)),
    "transposed": trained(nn.ConvTranspose2d(4, 6, 3, stride=2, output_padding=1), IMAGE),
    "grouped": trained(nn.Conv2d(4, 6, 3, groups=2), IMAGE),
    "depthwise": trained(nn.Conv2d(4, 4, 3, groups=4), IMAGE),
    "grouped and transposed": trained(nn.ConvTranspose2d(4, 6, 3, groups=2), IMAGE),
    "attention": trained(attention(), QUERY, KEYS, KEYS),
    "attention with smaller values": trained(attention(), QUERY, KEYS, (2, 4, 9, 6)),
    "causal attention": trained(attention(is_causal=True), QUERY, QUERY, QUERY),
    "grouped-query attention": trained(
        attention(enable_gqa=True), QUERY, (2, 2, 9, 8), (2, 2, 9, 8)
    ),
    "masked attention": trained(attention(attn_mask=torch.zeros(7, 9)), QUERY, KEYS, KEYS),
    "FLUX": flux,
    "SD3": sd3,
}


def main() -> None:
    warnings.simplefilter("ignore")
    counts = {}
    with sdpa_kernel(SDPBackend.MATH):
        for name, run in PROGRAMS.items():
            with FlopCounterMode(display=False) as counter:
                run()
            counts[name] = counter.get_total_flops()
        with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as profiler:
            for name, run in PROGRAMS.items():
                with record_function(f"program: {name}"):
                    run()
    profiler.export_chrome_trace(sys.argv[1])
    print(json.dumps(counts))


if __name__ == "__main__":
    main()
