"""Matrix products, convolutions and copies of known size, each in a range with its name."""

import json

import torch
from figures import figures
from torch.profiler import ProfilerActivity, profile, record_function

torch.manual_seed(0)
REPEATS = 3
SHAPES = [
    (8192, 8192, 8192),
    (4096, 4096, 4096),
    (77, 8192, 8192),
    (8192, 77, 8192),
    (8192, 8192, 77),
    (4095, 4097, 4099),
    (1, 8192, 8192),
    (16, 8192, 8192),
    (1024, 1024, 1024),
]
cases = []


def case(name, flops, moved, work):
    """Remember a case: its name, FLOPs and bytes of one call, and the call."""
    cases.append({"name": name, "flops": flops, "bytes": moved, "work": work})


def random(*shape, dtype):
    return torch.randn(*shape, device="cuda", dtype=dtype)


def tf32(on, work):
    """Return `work` with TF32 on or off."""

    def run():
        torch.backends.cuda.matmul.allow_tf32 = on
        torch.backends.cudnn.allow_tf32 = on
        return work()

    return run


for m, n, k in SHAPES:
    for kind, dtype in (
        ("fp32", torch.float32),
        ("tf32", torch.float32),
        ("bf16", torch.bfloat16),
        ("fp16", torch.float16),
    ):
        if kind == "fp32" and m * n * k > 4096**3 * 4 and (m, n, k) != (8192, 8192, 8192):
            continue
        a, b = random(m, k, dtype=dtype), random(k, n, dtype=dtype)
        moved = (m * k + k * n + m * n) * a.element_size()
        case(
            f"mm {kind} {m}x{n}x{k}",
            2 * m * n * k,
            moved,
            tf32(kind == "tf32", lambda a=a, b=b: torch.mm(a, b)),
        )
    try:
        if n % 16 == 0 and k % 16 == 0:
            a8 = random(m, k, dtype=torch.bfloat16).to(torch.float8_e4m3fn)
            b8 = random(n, k, dtype=torch.bfloat16).to(torch.float8_e4m3fn).T
            one = torch.tensor(1.0, device="cuda")

            def call(a=a8, b=b8, one=one):
                return torch._scaled_mm(a, b, scale_a=one, scale_b=one, out_dtype=torch.bfloat16)

            call()
            case(f"scaled_mm fp8 {m}x{n}x{k}", 2 * m * n * k, m * k + k * n + 2 * m * n, call)
    except Exception as error:
        print("no fp8:", m, n, k, error)
    try:
        if m > 16 and n % 8 == 0 and k % 8 == 0:
            ai = torch.randint(-9, 9, (m, k), device="cuda", dtype=torch.int8)
            bi = torch.randint(-9, 9, (n, k), device="cuda", dtype=torch.int8).T

            def call(a=ai, b=bi):
                return torch._int_mm(a, b)

            call()
            case(f"int_mm int8 {m}x{n}x{k}", 2 * m * n * k, m * k + k * n + 4 * m * n, call)
    except Exception as error:
        print("no int8:", m, n, k, error)
bf16 = torch.bfloat16
x, w, bias = (
    random(4096, 4096, dtype=bf16),
    random(4096, 4096, dtype=bf16),
    random(4096, dtype=bf16),
)
case(
    "linear bf16 4096x4096x4096 with bias",
    2 * 4096**3,
    3 * 2 * 4096**2 + 2 * 4096,
    lambda: torch.nn.functional.linear(x, w, bias),
)
p, q = random(24, 512, 64, dtype=bf16), random(24, 64, 512, dtype=bf16)
case(
    "bmm bf16 24 of 512x512x64",
    24 * 2 * 512 * 512 * 64,
    2 * 24 * (2 * 512 * 64 + 512 * 512),
    lambda: torch.bmm(p, q),
)
i, f = random(16, 256, 64, 64, dtype=bf16), random(256, 256, 3, 3, dtype=bf16)
case(
    "conv2d bf16 16x256x64x64 3x3",
    16 * 2 * 256 * 256 * 9 * 64 * 64,
    2 * (2 * i.numel() + f.numel()),
    lambda: torch.nn.functional.conv2d(i, f, padding=1),
)
il = i.to(memory_format=torch.channels_last)
fl = f.to(memory_format=torch.channels_last)
case(
    "conv2d bf16 channels_last 16x256x64x64 3x3",
    16 * 2 * 256 * 256 * 9 * 64 * 64,
    2 * (2 * i.numel() + f.numel()),
    lambda: torch.nn.functional.conv2d(il, fl, padding=1),
)
case(
    "einsum bf16 bij,bjk",
    24 * 2 * 512 * 512 * 64,
    2 * 24 * (2 * 512 * 64 + 512 * 512),
    lambda: torch.einsum("bij,bjk->bik", p, q),
)
for size in (1 << 12, 1 << 20, 1 << 26, 1 << 30):
    source = torch.randint(0, 255, (size,), device="cuda", dtype=torch.uint8)
    target = torch.empty_like(source)
    case(f"copy d2d {size}", 0, 2 * size, lambda s=source, t=target: t.copy_(s))
    floats = random(size // 4, dtype=torch.float32)
    case(f"add fp32 {size} bytes", size // 4, 3 * size, lambda s=floats: s + s)
    case(f"fill {size}", 0, size, lambda t=target: t.fill_(7))
    if size < 1 << 30:
        pinned, pageable = (
            torch.empty(size, dtype=torch.uint8, pin_memory=True),
            torch.ones(size, dtype=torch.uint8),
        )
        case(
            f"copy h2d pinned {size}",
            0,
            size,
            lambda s=pinned, t=target: t.copy_(s, non_blocking=True),
        )
        case(f"copy h2d pageable {size}", 0, size, lambda s=pageable, t=target: t.copy_(s))
        case(
            f"copy d2h pinned {size}",
            0,
            size,
            lambda s=target, t=pinned: t.copy_(s, non_blocking=True),
        )
        case(f"copy d2h pageable {size}", 0, size, lambda s=target, t=pageable: t.copy_(s))
tiny = torch.zeros(1, device="cuda")


def launches():
    for _ in range(200):
        tiny.add_(1)


case("200 launches of add_ on one element", 200, 0, launches)
for each in cases:
    each["work"]()
torch.cuda.synchronize()
with profile(
    activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], record_shapes=True, with_flops=True
):
    for each in cases:
        times = []
        for _ in range(REPEATS):
            torch.cuda.synchronize()
            begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            with record_function(each["name"]):
                begin.record()
                each["work"]()
                end.record()
                torch.cuda.synchronize()
            times.append(begin.elapsed_time(end))
        each["event_ms"] = times
for each in cases:
    del each["work"]
    print("CASE", json.dumps(each), flush=True)
figures("end")
