"""A tiny Stable Diffusion 3 pipeline with random weights and three text encoders."""

from __future__ import annotations

from typing import TYPE_CHECKING

from capture.pipelines.parts import (
    CLIP_LENGTH,
    CLIP_WIDTH,
    LATENT_CHANNELS,
    T5_LENGTH,
    byte_tokenizer,
    seeded,
    tiny_projected_clip,
    tiny_t5,
    tiny_vae,
)

if TYPE_CHECKING:
    from diffusers import SD3Transformer2DModel, StableDiffusion3Pipeline

POOLED_WIDTH = 2 * CLIP_WIDTH  # both CLIP embeddings concatenated; T5 tokens have the same width


def tiny_sd3(seed: int = 0) -> StableDiffusion3Pipeline:
    """Build a StableDiffusion3Pipeline with random float32 weights on the CPU.

    Downloads nothing. Seeds torch's global generator. Raises CaptureError if torch, diffusers or
    transformers is missing.
    """
    seeded(seed)
    from diffusers import FlowMatchEulerDiscreteScheduler, StableDiffusion3Pipeline

    clip_tokenizer = byte_tokenizer(CLIP_LENGTH)
    t5_tokenizer = byte_tokenizer(T5_LENGTH)
    return StableDiffusion3Pipeline(
        scheduler=FlowMatchEulerDiscreteScheduler(shift=3.0),
        tokenizer=clip_tokenizer,
        text_encoder=tiny_projected_clip(clip_tokenizer),
        tokenizer_2=clip_tokenizer,
        text_encoder_2=tiny_projected_clip(clip_tokenizer),
        tokenizer_3=t5_tokenizer,
        text_encoder_3=tiny_t5(t5_tokenizer, POOLED_WIDTH),
        transformer=_transformer(),
        vae=tiny_vae(),
    )


def _transformer() -> SD3Transformer2DModel:
    """Build the denoiser: two joint blocks, with normalised queries and keys as in SD 3.5."""
    from diffusers import SD3Transformer2DModel

    return SD3Transformer2DModel(
        sample_size=32,
        in_channels=LATENT_CHANNELS,
        out_channels=LATENT_CHANNELS,
        num_layers=2,
        attention_head_dim=16,
        num_attention_heads=2,
        joint_attention_dim=POOLED_WIDTH,
        caption_projection_dim=32,
        pooled_projection_dim=POOLED_WIDTH,
        pos_embed_max_size=64,
        qk_norm="rms_norm",
    ).eval()
