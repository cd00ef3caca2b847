"""Scaled dot-product attention in each backend, causal and not, forward and backward, in ranges."""

import json

import torch
from figures import figures
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.profiler import ProfilerActivity, profile, record_function

torch.manual_seed(0)
BACKENDS = [
    SDPBackend.MATH,
    SDPBackend.EFFICIENT_ATTENTION,
    SDPBackend.FLASH_ATTENTION,
    SDPBackend.CUDNN_ATTENTION,
]
# batch, heads, heads of keys, queries, keys, width
SHAPES = [
    (2, 16, 16, 2048, 2048, 128),
    (2, 16, 16, 2048, 77, 64),
    (2, 16, 4, 1024, 1024, 64),
    (1, 8, 8, 1, 4096, 128),
]
cases = []
for batch, heads, kv_heads, queries, keys, width in SHAPES:
    for backend in BACKENDS:
        for causal in (False, True):
            if causal and queries != keys:
                continue
            for dtype in (torch.bfloat16, torch.float32):
                if dtype == torch.float32 and backend not in (
                    SDPBackend.MATH,
                    SDPBackend.EFFICIENT_ATTENTION,
                ):
                    continue
                q = torch.randn(
                    batch, heads, queries, width, device="cuda", dtype=dtype, requires_grad=True
                )
                k, v = (
                    torch.randn(
                        batch, kv_heads, keys, width, device="cuda", dtype=dtype, requires_grad=True
                    )
                    for _ in range(2)
                )

                def work(q=q, k=k, v=v, causal=causal, backend=backend, gqa=heads != kv_heads):
                    with sdpa_kernel(backend):
                        out = torch.nn.functional.scaled_dot_product_attention(
                            q, k, v, is_causal=causal, enable_gqa=gqa
                        )
                        torch.autograd.grad(out.sum(), (q, k, v))

                sizes = f"{batch}x{heads}/{kv_heads}x{queries}x{keys}x{width}"
                name = f"sdpa {backend.name} {str(dtype)[6:]} {sizes}{' causal' if causal else ''}"
                flops = 4 * batch * heads * queries * keys * width
                try:
                    work()
                    torch.cuda.synchronize()
                    cases.append(
                        {
                            "name": name,
                            "forward_flops_without_mask": flops,
                            "backward_flops_without_mask": flops * 5 // 2,
                            "causal": causal,
                            "work": work,
                        }
                    )
                except Exception as error:
                    print("NOT RUN", name, str(error).splitlines()[0])
with profile(
    activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], record_shapes=True, with_flops=True
):
    for each in cases:
        with record_function(each["name"]):
            each["work"]()
        torch.cuda.synchronize()
for each in cases:
    del each["work"]
    print("CASE", json.dumps(each), flush=True)
figures("end")
