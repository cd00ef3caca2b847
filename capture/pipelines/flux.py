"""A FLUX pipeline small enough for any machine: every part is there, random, made on the spot."""

from __future__ import annotations

from typing import TYPE_CHECKING

from capture.errors import capture_extra

if TYPE_CHECKING:
    from diffusers import AutoencoderKL, FluxPipeline, FluxTransformer2DModel
    from transformers import CLIPTextModel, PreTrainedTokenizerFast, T5EncoderModel

LATENT_CHANNELS = 4
CLIP_WIDTH = 32
CLIP_LENGTH = 77  # tokens, as in the real one
T5_WIDTH = 32
T5_LENGTH = 512


def tiny_flux(seed: int = 0) -> FluxPipeline:
    """Build a FluxPipeline of a few hundred thousand random float32 weights, on the CPU.

    Nothing is downloaded: both tokenizers map bytes to tokens. Seeds torch's global generator.
    Raises CaptureError without torch, diffusers or transformers.
    """
    with capture_extra():
        import torch
        import transformers  # noqa: F401 (where it is absent, diffusers imports placeholders)
        from diffusers import FlowMatchEulerDiscreteScheduler, FluxPipeline

    torch.manual_seed(seed)
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


def byte_tokenizer(length: int) -> PreTrainedTokenizerFast:
    """A tokenizer of one token per byte, so that it knows every text; at most `length` tokens."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    tokens = ["<pad>", "<s>", "</s>", *sorted(pre_tokenizers.ByteLevel.alphabet())]
    vocabulary = {token: number for number, token in enumerate(tokens)}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>",
        special_tokens=[(token, vocabulary[token]) for token in ("<s>", "</s>")],
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        model_max_length=length,
        pad_token="<pad>",
        bos_token="<s>",
        eos_token="</s>",
    )


def tiny_clip(tokenizer: PreTrainedTokenizerFast) -> CLIPTextModel:
    """The encoder of the pooled prompt, two layers."""
    from transformers import CLIPTextConfig, CLIPTextModel

    return CLIPTextModel(
        CLIPTextConfig(
            vocab_size=len(tokenizer),
            hidden_size=CLIP_WIDTH,
            intermediate_size=2 * CLIP_WIDTH,
            num_hidden_layers=2,
            num_attention_heads=2,
            max_position_embeddings=CLIP_LENGTH,
            pad_token_id=tokenizer.pad_token_id,
            bos_token_id=tokenizer.bos_token_id,
            eos_token_id=tokenizer.eos_token_id,
        )
    ).eval()


def tiny_t5(tokenizer: PreTrainedTokenizerFast) -> T5EncoderModel:
    """The encoder of the prompt's tokens, two layers."""
    from transformers import T5Config, T5EncoderModel

    return T5EncoderModel(
        T5Config(
            vocab_size=len(tokenizer),
            d_model=T5_WIDTH,
            d_kv=T5_WIDTH // 2,
            d_ff=2 * T5_WIDTH,
            num_layers=2,
            num_heads=2,
            feed_forward_proj="gated-gelu",
            pad_token_id=tokenizer.pad_token_id,
            eos_token_id=tokenizer.eos_token_id,
        )
    ).eval()


def tiny_transformer() -> FluxTransformer2DModel:
    """The denoiser: two double-stream and two single-stream blocks, guided as in FLUX.1-dev."""
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


def tiny_vae() -> AutoencoderKL:
    """The decoder of latents to an image twice as high and wide."""
    from diffusers import AutoencoderKL

    return AutoencoderKL(
        down_block_types=("DownEncoderBlock2D",) * 2,
        up_block_types=("UpDecoderBlock2D",) * 2,
        block_out_channels=(16, 32),
        norm_num_groups=8,
        latent_channels=LATENT_CHANNELS,
        scaling_factor=0.3611,
        shift_factor=0.1159,
        use_quant_conv=False,
        use_post_quant_conv=False,
    ).eval()
