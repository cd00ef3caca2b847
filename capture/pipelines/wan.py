"""A tiny Wan pipeline (text to video) with random weights."""

from __future__ import annotations

from typing import TYPE_CHECKING

from capture.pipelines.parts import T5_LENGTH, T5_WIDTH, byte_tokenizer, seeded

if TYPE_CHECKING:
    from diffusers import AutoencoderKLWan, WanPipeline, WanTransformer3DModel
    from transformers import PreTrainedTokenizerFast, UMT5EncoderModel

LATENT_CHANNELS = 4


def tiny_wan(seed: int = 0) -> WanPipeline:
    """Build a WanPipeline with a few hundred thousand random float32 weights on the CPU.

    As in Wan 2.1, a latent covers 8 x 8 pixels of four frames. Downloads nothing. Seeds torch's
    global generator. Raises CaptureError if torch, diffusers or transformers is missing.
    """
    seeded(seed)
    from diffusers import UniPCMultistepScheduler, WanPipeline

    tokenizer = byte_tokenizer(T5_LENGTH)
    return WanPipeline(
        tokenizer=tokenizer,
        text_encoder=_text_encoder(tokenizer),
        vae=_vae(),
        scheduler=UniPCMultistepScheduler(
            prediction_type="flow_prediction", use_flow_sigmas=True, flow_shift=3.0
        ),
        transformer=_transformer(),
    )


def _text_encoder(tokenizer: PreTrainedTokenizerFast) -> UMT5EncoderModel:
    from transformers import UMT5Config, UMT5EncoderModel

    return UMT5EncoderModel(
        UMT5Config(
            vocab_size=len(tokenizer),
            d_model=T5_WIDTH,
            d_kv=T5_WIDTH // 2,
            d_ff=2 * T5_WIDTH,
            num_layers=2,
            num_heads=2,
            pad_token_id=tokenizer.pad_token_id,
            eos_token_id=tokenizer.eos_token_id,
        )
    ).eval()


def _vae() -> AutoencoderKLWan:
    from diffusers import AutoencoderKLWan

    return AutoencoderKLWan(
        base_dim=8,
        z_dim=LATENT_CHANNELS,
        dim_mult=[1, 1, 2, 2],
        num_res_blocks=1,
        latents_mean=[0.0] * LATENT_CHANNELS,
        latents_std=[1.0] * LATENT_CHANNELS,
    ).eval()


def _transformer() -> WanTransformer3DModel:
    """Build the denoiser: two blocks, with attention over all frames and to the prompt."""
    from diffusers import WanTransformer3DModel

    return WanTransformer3DModel(
        num_attention_heads=2,
        attention_head_dim=16,
        in_channels=LATENT_CHANNELS,
        out_channels=LATENT_CHANNELS,
        text_dim=T5_WIDTH,
        freq_dim=32,
        ffn_dim=64,
        num_layers=2,
    ).eval()
