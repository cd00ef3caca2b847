"""Small parts of text-to-image pipelines with random weights. Nothing is downloaded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from capture.errors import capture_extra

if TYPE_CHECKING:
    from diffusers import AutoencoderKL
    from transformers import (
        CLIPTextConfig,
        CLIPTextModel,
        CLIPTextModelWithProjection,
        PreTrainedTokenizerFast,
        T5EncoderModel,
    )

LATENT_CHANNELS = 4
CLIP_WIDTH = 32
CLIP_LENGTH = 77  # tokens, as in the original
T5_WIDTH = 32
T5_LENGTH = 512


def seeded(seed: int) -> None:
    """Seed torch's global generator, from which all weights come.

    Raises CaptureError if torch, diffusers or transformers is missing. Without the check, diffusers
    would import placeholders for the classes of transformers.
    """
    with capture_extra():
        import diffusers  # noqa: F401
        import torch
        import transformers  # noqa: F401
    torch.manual_seed(seed)


def byte_tokenizer(length: int) -> PreTrainedTokenizerFast:
    """Build a tokenizer with one token per byte, for any text of up to `length` tokens."""
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
    """Build the encoder of the pooled prompt, with two layers."""
    from transformers import CLIPTextModel

    return CLIPTextModel(_clip_config(tokenizer)).eval()


def tiny_projected_clip(tokenizer: PreTrainedTokenizerFast) -> CLIPTextModelWithProjection:
    """Build the encoder of the pooled prompt with a projection."""
    from transformers import CLIPTextModelWithProjection

    return CLIPTextModelWithProjection(_clip_config(tokenizer)).eval()


def _clip_config(tokenizer: PreTrainedTokenizerFast) -> CLIPTextConfig:
    from transformers import CLIPTextConfig

    return CLIPTextConfig(
        vocab_size=len(tokenizer),
        hidden_size=CLIP_WIDTH,
        intermediate_size=2 * CLIP_WIDTH,
        projection_dim=CLIP_WIDTH,
        num_hidden_layers=2,
        num_attention_heads=2,
        max_position_embeddings=CLIP_LENGTH,
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
    )


def tiny_t5(tokenizer: PreTrainedTokenizerFast, width: int = T5_WIDTH) -> T5EncoderModel:
    """Build the encoder of the prompt's tokens, with two layers."""
    from transformers import T5Config, T5EncoderModel

    return T5EncoderModel(
        T5Config(
            vocab_size=len(tokenizer),
            d_model=width,
            d_kv=width // 2,
            d_ff=2 * width,
            num_layers=2,
            num_heads=2,
            feed_forward_proj="gated-gelu",
            pad_token_id=tokenizer.pad_token_id,
            eos_token_id=tokenizer.eos_token_id,
        )
    ).eval()


def tiny_vae() -> AutoencoderKL:
    """Build the VAE. Its images are twice as high and wide as its latents."""
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
