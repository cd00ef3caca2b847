"""A tiny Stable Diffusion pipeline with random weights. Its denoiser is a UNet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from capture.pipelines.parts import (
    CLIP_LENGTH,
    CLIP_WIDTH,
    LATENT_CHANNELS,
    byte_tokenizer,
    seeded,
    tiny_clip,
    tiny_vae,
)

if TYPE_CHECKING:
    from diffusers import StableDiffusionPipeline, UNet2DConditionModel


def tiny_sd(seed: int = 0) -> StableDiffusionPipeline:
    """Build a StableDiffusionPipeline with random float32 weights on the CPU.

    Downloads nothing. Seeds torch's global generator. Raises CaptureError if torch, diffusers or
    transformers is missing.
    """
    seeded(seed)
    from diffusers import DDIMScheduler, StableDiffusionPipeline

    tokenizer = byte_tokenizer(CLIP_LENGTH)
    return StableDiffusionPipeline(
        vae=tiny_vae(),
        text_encoder=tiny_clip(tokenizer),
        tokenizer=tokenizer,
        unet=_unet(),
        scheduler=DDIMScheduler(clip_sample=False, steps_offset=1),
        safety_checker=None,
        feature_extractor=None,
        requires_safety_checker=False,
    )


def _unet() -> UNet2DConditionModel:
    """Build the denoiser: two levels, with cross-attention to the prompt in the lower one."""
    from diffusers import UNet2DConditionModel

    return UNet2DConditionModel(
        sample_size=32,
        in_channels=LATENT_CHANNELS,
        out_channels=LATENT_CHANNELS,
        block_out_channels=(16, 32),
        down_block_types=("DownBlock2D", "CrossAttnDownBlock2D"),
        up_block_types=("CrossAttnUpBlock2D", "UpBlock2D"),
        layers_per_block=1,
        norm_num_groups=8,
        attention_head_dim=8,
        cross_attention_dim=CLIP_WIDTH,
    ).eval()
