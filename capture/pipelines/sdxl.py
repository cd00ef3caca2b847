"""A tiny Stable Diffusion XL pipeline with random weights: a UNet and two text encoders."""

from __future__ import annotations

from typing import TYPE_CHECKING

from capture.pipelines.parts import (
    CLIP_LENGTH,
    CLIP_WIDTH,
    LATENT_CHANNELS,
    byte_tokenizer,
    seeded,
    tiny_clip,
    tiny_projected_clip,
    tiny_vae,
)

if TYPE_CHECKING:
    from diffusers import StableDiffusionXLPipeline, UNet2DConditionModel

SIZE_WIDTH = 8  # width of the embedding of each number that describes the image size
SIZE_NUMBERS = 6


def tiny_sdxl(seed: int = 0) -> StableDiffusionXLPipeline:
    """Build a StableDiffusionXLPipeline with random float32 weights on the CPU.

    Downloads nothing. Seeds torch's global generator. Raises CaptureError if torch, diffusers or
    transformers is missing.
    """
    seeded(seed)
    from diffusers import EulerDiscreteScheduler, StableDiffusionXLPipeline

    tokenizer = byte_tokenizer(CLIP_LENGTH)
    return StableDiffusionXLPipeline(
        vae=tiny_vae(),
        text_encoder=tiny_clip(tokenizer),
        text_encoder_2=tiny_projected_clip(tokenizer),
        tokenizer=tokenizer,
        tokenizer_2=tokenizer,
        unet=_unet(),
        scheduler=EulerDiscreteScheduler(timestep_spacing="leading", steps_offset=1),
        add_watermarker=False,
    )


def _unet() -> UNet2DConditionModel:
    """Build the denoiser: two levels, with attention to both encoders' tokens in the lower one."""
    from diffusers import UNet2DConditionModel

    return UNet2DConditionModel(
        sample_size=32,
        in_channels=LATENT_CHANNELS,
        out_channels=LATENT_CHANNELS,
        block_out_channels=(16, 32),
        down_block_types=("DownBlock2D", "CrossAttnDownBlock2D"),
        up_block_types=("CrossAttnUpBlock2D", "UpBlock2D"),
        layers_per_block=1,
        transformer_layers_per_block=(1, 2),
        norm_num_groups=8,
        attention_head_dim=8,
        use_linear_projection=True,
        cross_attention_dim=2 * CLIP_WIDTH,  # both encoders' tokens concatenated
        addition_embed_type="text_time",
        addition_time_embed_dim=SIZE_WIDTH,
        projection_class_embeddings_input_dim=SIZE_NUMBERS * SIZE_WIDTH + CLIP_WIDTH,
    ).eval()
