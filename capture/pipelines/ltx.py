"""A tiny LTX-Video pipeline (text to video) with random weights."""

from __future__ import annotations

from typing import TYPE_CHECKING

from capture.pipelines.parts import T5_LENGTH, T5_WIDTH, byte_tokenizer, seeded, tiny_t5

if TYPE_CHECKING:
    from diffusers import AutoencoderKLLTXVideo, LTXPipeline, LTXVideoTransformer3DModel

LATENT_CHANNELS = 8


def tiny_ltx(seed: int = 0) -> LTXPipeline:
    """Build an LTXPipeline with a few hundred thousand random float32 weights on the CPU.

    As in LTX-Video, a latent covers 32 x 32 pixels of eight frames. Downloads nothing. Seeds
    torch's global generator. Raises CaptureError if torch, diffusers or transformers is missing.
    """
    seeded(seed)
    from diffusers import FlowMatchEulerDiscreteScheduler, LTXPipeline

    tokenizer = byte_tokenizer(T5_LENGTH)
    return LTXPipeline(
        scheduler=FlowMatchEulerDiscreteScheduler(use_dynamic_shifting=True),
        vae=_vae(),
        text_encoder=tiny_t5(tokenizer),
        tokenizer=tokenizer,
        transformer=_transformer(),
    )


def _vae() -> AutoencoderKLLTXVideo:
    from diffusers import AutoencoderKLLTXVideo

    widths = (8, 16, 16, 16)
    return AutoencoderKLLTXVideo(
        latent_channels=LATENT_CHANNELS,
        block_out_channels=widths,
        decoder_block_out_channels=widths,
        layers_per_block=(1,) * 5,
        decoder_layers_per_block=(1,) * 5,
    ).eval()


def _transformer() -> LTXVideoTransformer3DModel:
    """Build the denoiser: two blocks, with attention over all frames and to the prompt."""
    from diffusers import LTXVideoTransformer3DModel

    return LTXVideoTransformer3DModel(
        in_channels=LATENT_CHANNELS,
        out_channels=LATENT_CHANNELS,
        num_attention_heads=2,
        attention_head_dim=16,
        cross_attention_dim=32,
        num_layers=2,
        caption_channels=T5_WIDTH,
    ).eval()
