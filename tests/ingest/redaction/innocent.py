"""Texts of profiles that only resemble secrets: all are kept unchanged."""

import re

INNOCENT = r"""
aten::scaled_dot_product_attention
aten::_scaled_dot_product_flash_attention(query, key, value)
aten::sort_by_key
sort_by_key
at::native::(anonymous namespace)::sort_by_key_kernel
thrust::sort_by_key(first, last)
void cub::DeviceRadixSortOnesweepKernel<cub::Policy800<long, long, int>, false, long, long>
torch.autograd.KeyError: 'token'
KeyError: 'api_key'
KeyError: "password"
query, key, value
key=query
query_key_value
q=1, k=2, v=3
key_padding_mask=None
past_key_values=None
num_key_value_heads=8
attn.key_proj: Linear(768, 768)
layers.0.self_attn.k_proj.weight
nn.Module: MultiheadAttention_0(key, query)
transformers/models/gpt2/tokenization_utils.py(123): __call__
site-packages/tiktoken/core.py(68): encode
site-packages/transformers/tokenization_utils_base.py(2860): __call__
tokenizers/__init__.py(3): from_pretrained
getpass.py(77): unix_getpass
secrets.py(12): token_hex
/usr/lib/python3.11/secrets.py(50): token_bytes
<built-in method get_token of Tokenizer object at 0x7f3b5c0e1d30>
http/cookiejar.py(1700): extract_cookies
requests/auth.py(15): __init__
requests/cookies.py(124): extract_cookies_to_jar
huggingface_hub/utils/_auth.py(40): get_token
urllib3/connectionpool.py(534): _make_request
tiktoken==0.7
tiktoken==0.7.0
tiktoken=0.7.0=py311h182c674_0
tokenizers==0.20
tokenizers==0.20.3
asttokens==2.4.1
asttokens=3.0.0
SecretStorage==3.3.3
SecretStorage=3.3.3
sentencepiece==0.2.0
python-jose==3.3.0
passlib==1.7.4
keyring==25.2.1
cookiecutter==2.6.0
oauthlib==3.2.2
google-auth==2.29.0
authlib>=1.3
pycryptodome~=3.20
token=None
token=True
token = False
tokens=None
password=None
password = None
passwd=null
api_key=None
api_key: str = None
password: str = field(default=None)
the password is required
password is incorrect, try again
the api key is not set
the secret is that it overlaps
"password is None"
zip(a, b)
mc alias list
vercel dev
auth_token: str = Field(..., description='of the service')
secret: bytes = b''
secret=False
use_auth_token=False
tokens=(1, 2)
tokens=[1, 2, 3]
tokens={}
tokens=128
tokens: 128
tokens=2K
tokens=1,024
tokens: 4096/8192
num_tokens=77
max_tokens: 77
max_tokens=77
max_new_tokens: 512
total_tokens: 12.5k
prompt_tokens=12 completion_tokens=30
tokens/s: 1234.5
tokens per second: 88
token_ids=[101, 2023, 102]
token_type_ids=tensor([[0, 0]])
eos_token=</s>
bos_token=<s>
pad_token=[PAD]
eos_token_id: 50256
unk_token: <unk>
tokens=input_tokens
tokens=self.tokens
next_token=token
token=self.token
generated tokens: hello world
tokenizer=gpt2
tokenizer: Qwen/Qwen2-7B
tokenization=fast
detokenize=1
--token-length 77
--max-tokens 128
--max_new_tokens 128 --tokenizer gpt2
--num-tokens 64
--tokenizer-name gpt2
--cookie-path /tmp/c
--password-file /run/pw
--bypass cache
--compass on
--auth-type oidc
train.py --lr 1e-4 --passes 3
forward pass: step 3
forward_pass=3
backward_pass: 0
num_passes=2
passthrough=
passthrough=true
passthrough=identity
pass=1
two-pass reduction
post_grad_passes.py(10): pass_pattern
password-less
password-less login: yes
passwordless=ssh
password-less: enabled
compass=north
bypass_cache=1
PRIMARY_KEY=
PRIMARY_KEY=id
FOREIGN_KEY=run_id
PUBLIC_KEY=abc
CACHE_KEY=fx_graph_1
SORT_KEY=name
cache_key=fx_123
dispatch_key=CUDA
DispatchKey::AutogradCUDA
c10::DispatchKeySet(CUDA)
BLOCK_KEY=64
HKEY_LOCAL_MACHINE
primary key (id)
publickey
secretary
secretly fused
Secret Service
credential-less
authority
author: Ada Lovelace
authors=3
auth_type=none
authenticated=True
authorized_keys
authentication failed
basic attention
Basic attention of a block
BasicBlock_3
Basic ResNet50Block
nn.Module: BasicTransformerBlock_0
bearer token
Bearer authentication
bearing: 90
cookie cutter
Cookie=None
PWD=/workspace/project
OLDPWD=/root
PATH=/usr/bin:/bin
LD_LIBRARY_PATH=/usr/local/cuda/lib64
HF_HOME=/data/hf_cache
HF_HUB_OFFLINE=1
WANDB_MODE=offline
WANDB_PROJECT=flux
SSH_AUTH_SOCK=/tmp/ssh-abc/agent.1
GPG_TTY=/dev/pts/0
TOKENIZERS_PARALLELISM=false
NCCL_DEBUG=INFO
XAUTHORITY=/root/.Xauthority
sk-learn
sk-learn-contrib
sk-learn-gradient_boosting_classifier_with_options
scikit-learn==1.5.0
mask-generation-pipeline-large
task-0123456789abcdefghijkl
/runs/task-0123456789abcdefghijkl/x
hf_transfer
hf_transformers_generation_utils
hf_hub_download
npm_config_cache
npm_lifecycle_event
pypi-mirror
pypi-simple
jina_embeddings_v3
jinaai/jina_embeddings_v2_base_en_model_with_alibi
secret_key
secret_santa
whsec
xai-org/grok-1
gsk_fusion
r8_e4m3_gemm_nt_kernel
ampere_fp16_s16816gemm_fp16_128x128_ldg8_f2f_stages_32x5_tn
pul-request
dp.pt
dapi_call
key-value
sl.block
s.numel()
fw_bw_graph
fw_graph_0_forward_backward_partitioned_module
glc_kernel
re_sub_pattern
cio
EAACEd
SK3_ISA942_MT128x128
Cijk_Alik_Bljk_BBS_BH_MT128x128x64_SK0_SKXCCM0_TLDS1_WG32_8_1
lin_api
shippo
v1.0-rc1
pa-rsing
rpa_kernel
d0a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3
commit 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b
git+https://github.com/huggingface/diffusers@9f86d081884c7d659a2feaa0c55ad015a3bf4f1b
sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
e3b0c44298fc1c149afbf4c8996fb924
fx_graph_cache_key=fdkzaqpz3zlqg5m6w7oanxxvdfp2xw5wzjxdkk6yuvn2ovcnwzkk
triton_poi_fused_add_mul_0_c3k2vq5m6w7oanxxvdfp2xw5wzjxdkk6yuvn2ovcnwzk
/tmp/torchinductor_root/fd/cfdkzaqpz3zlqg5m6w7oanxxvdfp2xw5wzjxdkk6yuvn2ovcnwzkk.py
6ba7b810-9dad-11d1-80b4-00c04fd430c8
GPU-6ba7b810-9dad-11d1-80b4-00c04fd430c8
run 550e8400-e29b-41d4-a716-446655440000
0x7f3b5c0e1d30
2024-05-01T12:00:00.000000Z
triton_red_fused__to_copy_add_mean_mul_pow_rsqrt_3
triton_tem_fused_addmm_gelu_view_17
Memcpy HtoD (Pinned -> Device)
ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)
void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_64x64_32x6_tn_align8>(Params)
_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_11FillFunctorIfEESt5arrayIPcLm1EEEEviT0_T1_
ProfilerStep#12
## Call CompiledFxGraph fdkzaqpz3zlqg5m6w7oanxxvdfp2xw5wzjxdkk6yuvn2ovcnwzkk ##
Torch-Compiled Region: 0/0
nn.Module: T5TokenEmbedding_0
https://github.com/pytorch/pytorch/issues/12345
https://user@example.com/x
git@github.com:pytorch/pytorch.git
ssh://git@github.com/pytorch/pytorch.git
https://ada.lovelace2024@dev.example.com/x
tcp://10.0.0.1:29500
http://localhost:8080/metrics
file:///home/me/trace.json
env://?rank=0
docker://python3.11-slim@sha256:9f86d081884c7d65
https://cdn.jsdelivr.net/npm/vega@5.30.0
https://discord.com/channels/1/2
curl -sS https://example.com/x -o out
python -u train.py:main
mysql -u root -P 3306
mkdir -p /tmp/x
docker login
ssh -p 22 host
-pX
--proto tcp
password: ***
password: <hidden>
password=${DB_PASSWORD}
password=%s
api_key={api_key}
api_key=os.environ
api_key=self.api_key
token=<your token>
token = getenv(x)
Enter password:
authorization: none
signature=*fp32, i32
{"signature": {"0": "*fp32"}}
{"key": "q", "keys": ["k"], "tokens": "128"}
{"num_tokens": 128, "eos_token": "</s>"}
{"cache_key": "fx_123", "fusion_key": [1, 2]}
{"Input type": ["float", "Scalar", "key"]}
next_token = torch.argmax(logits[:, -1], dim=-1)
next_token = torch.argmax(…)
next_token = logits.argmax
mask_token = nn.Parameter(torch.zeros(1))
cls_tokens = self.cls_token.expand(B, -1, -1)
pos_token = x + 1
token = tokens[i]
tokens = tokenizer(text)
token=next(x)
secret = hashlib.sha256(x)
cls_token: "f32[1, 1, 768]"
cls_token: f32[1, 1, 768]
cls_token_1: "f32[1, 1, 768][768, 768, 1]cuda:0"
tokens: "i64[1, 77]"
tokens: "Sym(s0)"
SSH_KEY_PATH=~/.ssh/id_rsa
SSH_KEY_PATH=/Users/me/.ssh/id_rsa
HF_TOKEN_PATH=/home/me/.cache/huggingface/token
api_key_file: keys.json
def f(token: Tensor, password: str)
def f(tokens: List[int], auth: bool = False) -> Tensor
api_key: Optional[str] = None
token: torch.Tensor
credentials: AuthCredentials
auth: HTTPBasicAuth
cookies: CookieJar
ENV token embedding
set tokens correctly
config tokens
login to the server successfully
name: token_embedding value: 3
['token', 'value']
(key, value)
hello, monkey: banana
hockey=puck
turkey: 3
monkey_patch=1
keyword=value
keyframe: 3
donkey.ssh
""".strip().splitlines()

# As keys, these name a secret.
NAMES_OF_SECRETS = {
    text
    for text in INNOCENT
    if text.lower().startswith(("bearer ", "cookie cutter", "credential", "secret", "enter "))
    or re.search(r"\b(password|api key|secret) is ", text)
}
