"""A tiny FLUX pipeline with random weights. It has all parts and runs on any machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from capture.pipelines.parts import (
    CLIP_LENGTH,
    CLIP_WIDTH,
    LATENT_CHANNELS,
    T5_LENGTH,
    T5_WIDTH,
    byte_tokenizer,
    seeded,
    tiny_clip,
    tiny_t5,
    tiny_vae,
)

if TYPE_CHECKING:
    from diffusers import FluxPipeline, FluxTransformer2DModel


def tiny_flux(seed: int = 0) -> FluxPipeline:
    """Build a FluxPipeline with a few hundred thousand random float32 weights on the CPU.

    Downloads nothing: both tokenizers map bytes to tokens. Seeds torch's global generator. Raises
    CaptureError if torch, diffusers or transformers is missing.
    """
    seeded(seed)
    from diffusers import FlowMatchEulerDiscreteScheduler, FluxPipeline

    clip_tokenizer = byte_tokenizer(CLIP_LENGTH)
    t5_tokenizer = byte_tokenizer(T5_LENGTH)
    pipeline = FluxPipeline(
        scheduler=FlowMatchEulerDiscreteScheduler(shift=3.0, use_dynamic_shifting=True),
        tokenizer=clip_tokenizer,
        text_encoder=tiny_clip(clip_tokenizer),
        tokenizer_2=t5_tokenizer,
        text_encoder_2=tiny_t5(t5_tokenizer),
        transformer=tiny_transformer(),
        vae=tiny_vae(),
    )
    pipeline.set_progress_bar_config(disable=True)
    return pipeline


def tiny_transformer() -> FluxTransformer2DModel:
    """Build the denoiser: two double- and two single-stream blocks, guided as in FLUX.1-dev."""
    from diffusers import FluxTransformer2DModel

    return FluxTransformer2DModel(
        in_channels=4 * LATENT_CHANNELS,  # the pipeline packs 2 x 2 latents into a token
        num_layers=2,
        num_single_layers=2,
        attention_head_dim=16,
        axes_dims_rope=(4, 4, 8),  # adds up to attention_head_dim
        num_attention_heads=2,
        joint_attention_dim=T5_WIDTH,
        pooled_projection_dim=CLIP_WIDTH,
        guidance_embeds=True,
    ).eval()
