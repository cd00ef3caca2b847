"""Kinds of secrets, in the forms that vendors publish and that programs write.

`TOKENS` and `SETTINGS` are written by hand. `ROWS` are the tokens of `tokens.tsv`. `GROUPS` are
several tokens in one text, which saves time. Each run of the tests makes other secrets;
SECRETS_SEED repeats a run.

In a form, `<32>` is a field of 32 random letters and digits. A letter selects other characters:
`<32h>` hexadecimal digits, `<32u>` capital letters and digits, `<32l>` small letters and digits,
`<32d>` digits, `<32w>` the characters of URLs, `<32b>` the characters of Base64.
"""

import os
import random
import re
import secrets
import string
from collections.abc import Iterator
from functools import cache

from ingest.redaction import tokens

SEED = os.environ.get("SECRETS_SEED") or str(secrets.randbelow(10**9))

ALPHABETS = {
    "": string.ascii_letters + string.digits,
    "h": string.hexdigits[:16],
    "u": string.ascii_uppercase + string.digits,
    "l": string.ascii_lowercase + string.digits,
    "d": string.digits,
    "w": string.ascii_letters + string.digits + "-_",
    "b": string.ascii_letters + string.digits + "+/",
}
FIELD = re.compile(r"<(\d+)([a-z]?)>")

# The first word of a kind is the name of its rule, if it is a token with a known form.
TOKENS = {
    "1password": "ops_eyJ<250>",
    "adafruit": "aio_<28>",
    "age": "AGE-SECRET-KEY-1<58u>",
    "airtable": "pat<14>.<64h>",
    "alibaba": "LTAI<20>",
    "anyscale": "esecret_<26l>",
    "artifactory": "AKCp<69>",
    "artifactory reference": "cmVmdGtuO<56>",
    "atlassian": "ATATT3<186w>=<8u>",
    "atlassian bitbucket": "ATBB<32>",
    "aws": "AKIA<16u>",
    "aws session": "ASIA<16u>",
    "aws bedrock": "ABSK<109b>=",
    "azure": "<3>8Q~<34w>",
    "azure devops": "<76>AZDO<4>",
    "azure key": "<76>+ASt<5>A==",
    "azure key of an AI service": "<52>JQQJ99<26>",
    "brevo": "xkeysib-<64h>-<16>",
    "buildkite": "bkua_<40l>",
    "baidu": "bce-v3/ALTAK-<21>/<40h>",
    "cerebras": "csk-<48l>",
    "circleci": "CCIPAT_<22>_<40h>",
    "clojars": "CLOJARS_<60h>",
    "cloudflare": "cfut_<48>",
    "cloudflare of a machine": "v1.0-<24h>-<146h>",
    "contentful": "CFPAT-<43w>",
    "crates.io": "cio<32>",
    "databricks": "dapi<32h>",
    "databricks of a notebook": "dapi<32h>-2",
    "digitalocean": "dop_v1_<64h>",
    "digitalocean oauth": "doo_v1_<64h>",
    "discord": "MT<24>.<6w>.<38w>",
    "docker": "dckr_pat_<27w>",
    "doppler": "dp.pt.<43>",
    "doppler service": "dp.st.prd.<43>",
    "dropbox": "sl.<135w>",
    "dynatrace": "dt0c01.<24u>.<64u>",
    "easypost": "EZAK<54>",
    "elevenlabs": "sk_<48h>",
    "facebook": "EAA<180>",
    "figma": "figd_<40w>",
    "firecrawl": "fc-<32h>",
    "fireworks": "fw_<24>",
    "e2b": "e2b_<40h>",
    "fal": "<8h>-<4h>-<4h>-<4h>-<12h>:<32h>",
    "fly.io": "FlyV1 fm2_<200>",
    "fly.io old": "fo1_<43w>",
    "frame.io": "fio-u-<64w>",
    "github": "ghp_<36>",
    "github app": "ghs_<36>",
    "github oauth": "gho_<36>",
    "github refresh": "ghr_<76>",
    "github user": "ghu_<36>",
    "github fine-grained": "github_pat_<22>_<59>",
    "gitlab": "glpat-<20w>",
    "gitlab deploy": "gldt-<20w>",
    "gitlab job": "glcbt-64_<20w>",
    "gitlab runner of a workspace": "glrtr-<20w>",
    "gitlab runner": "GR1348941<20w>",
    "gitlab trigger": "glptt-<40h>",
    "google": "AIza<35w>",
    "google client": "GOCSPX-<28w>",
    "google oauth": "ya29.a0<160w>",
    "google oauth refresh": "1//0<60w>",
    "grafana": "glsa_<32>_<8h>",
    "grafana cloud": "glc_<80b>=",
    "groq": "gsk_<52>",
    "heroku": "HRKU-<36w>",
    "hugging face": "hf_<34>",
    "hugging face organization": "api_org_<34>",
    "jina": "jina_<60>",
    "jwt": "eyJ<33>.eyJ<80>.<43w>",
    "kaggle": "KGAT_<32h>",
    "lambda": "secret_my-key_<32h>.<32>",
    "langsmith": "lsv2_pt_<32h>_<10h>",
    "langsmith old": "ls__<32h>",
    "linear": "lin_api_<40>",
    "mailchimp": "<32h>-us12",
    "mailgun": "key-<32h>",
    "mapbox": "sk.eyJ<60>.<22w>",
    "modal": "ak-<22>",
    "modal secret": "as-<22>",
    "modelscope": "ms-<8h>-<4h>-<4h>-<4h>-<12h>",
    "neon": "napi_<64l>",
    "neptune": "eyJhcGlf<120b>==",
    "netlify": "nfp_<36>",
    "new relic": "NRAK-<27u>",
    "notion": "ntn_<46>",
    "notion old": "secret_<43>",
    "npm": "npm_<36>",
    "nuget": "oy2<43l>",
    "nvidia": "nvapi-<64w>",
    "openai": "sk-<48>",
    "openai anthropic": "sk-ant-api03-<93w>AA",
    "openai deepseek": "sk-<32h>",
    "openai langfuse": "sk-lf-<8h>-<4h>-<4h>-<4h>-<12h>",
    "openai openrouter": "sk-or-v1-<64h>",
    "openai project": "sk-proj-<74w>T3BlbkFJ<74w>",
    "openai service account": "sk-svcacct-<60w>",
    "openshift": "sha256~<43w>",
    "perplexity": "pplx-<48>",
    "pinecone": "pcsk_<5>_<60>",
    "planetscale": "pscale_tkn_<43w>",
    "posthog": "phx_<43>",
    "postman": "PMAK-<24h>-<34h>",
    "prefect": "pnu_<36>",
    "pulumi": "pul-<40h>",
    "pypi": "pypi-AgEIcHlwaS5vcmc<120w>",
    "readme": "rdme_<70l>",
    "replicate": "r8_<37>",
    "resend": "re_<8>_<24>",
    "rubygems": "rubygems_<48h>",
    "runpod": "rpa_<40u>",
    "sendgrid": "SG.<22w>.<43w>",
    "sentry": "sntrys_<80b>_<43b>",
    "shippo": "shippo_live_<40h>",
    "shopify": "shpat_<32h>",
    "slack": "xoxb-<12d>-<12d>-<24>",
    "slack cookie": "xoxd-<120w>%2B<30w>%3D",
    "slack app": "xapp-1-A<10u>-<13d>-<64h>",
    "slack refresh": "xoxe.xoxp-1-<160w>",
    "sonar": "sqp_<40h>",
    "square": "sq0atp-<22w>",
    "stripe": "sk_live_<24>",
    "stripe restricted": "rk_live_<99>",
    "stripe webhook": "whsec_<32>",
    "supabase": "sbp_<40h>",
    "supabase secret": "sb_secret_<31w>",
    "tailscale": "tskey-auth-<17>-<32>",
    "tavily": "tvly-dev-<32>",
    "telegram": "<10d>:AA<33w>",
    "tencent": "AKID<32>",
    "terraform": "<14>.atlasv1.<67w>",
    "together": "tgp_v1_<43w>",
    "twilio": "SK<32h>",
    "typeform": "tfp_<44w>",
    "vault": "hvs.<95w>",
    "vault batch": "hvb.<140w>",
    "vercel": "vcp_<56>",
    "volcengine": "AKLT<43>",
    "voyage": "pa-<43w>",
    "wandb": "wandb_v1_<70>",
    "xai": "xai-<80>",
    "yandex": "AQVN<36w>",
    "zhipu": "<32h>.<16>",
}

# Secrets that the text before them reveals. Some have several kinds of quotes, or several parts.
SETTINGS = {
    "private key": "-----BEGIN RSA PRIVATE KEY-----\n<64b>\n<64b>\n-----END RSA PRIVATE KEY-----",
    "private key of ssh": "-----BEGIN OPENSSH PRIVATE KEY-----\\n<70b>\\n"
    "-----END OPENSSH PRIVATE KEY-----\\n",
    "private key of pgp": "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n<64b>\n"
    "-----END PGP PRIVATE KEY BLOCK-----",
    "password in a URL": "postgres://user:<12>@db.example.com:5432/x",
    "password in a URL without a user": "redis://:<20>@cache.example.com:6379/0",
    "password in a URL with signs": "mongodb+srv://me:<8>@<8>@cluster0.example.net",
    "token in a URL": "git clone https://<24>@git.example.com/a/b.git",
    "token in a URL of sentry": "https://<32h>@o12345.ingest.sentry.io/67",
    "webhook": "https://hooks.slack.com/services/T<8u>/B<8u>/<24>",
    "webhook of discord": "https://discord.com/api/webhooks/<18d>/<68w>",
    "webhook of teams": "https://acme.webhook.office.com/webhookb2/<36w>@<36w>/IncomingWebhook/<32h>",
    "webhook of lark": "https://open.larksuite.com/open-apis/bot/v2/hook/<36w>",
    "signature of a URL": "https://b.s3.amazonaws.com/k?X-Amz-Credential=<20u>&X-Amz-Signature=<64h>",
    "signature of a URL of azure": "https://acc.blob.core.windows.net/c?sv=2022-11-02&sig=<43>%3D",
    "bearer": "bearer <40w>",
    "basic": "Authorization: Basic dXNlcjpw<24>",
    "basic alone": "sent Basic dXNlcjpw<24> to the host",
    "header": "Authorization: AWS4-HMAC-SHA256 Credential=<20u>/us-east-1, Signature=<64h>",
    "header digest": 'Authorization: Digest username="me", nonce="<32h>", response="<32h>"',
    "header token": "Proxy-Authorization: token <40h>",
    "header cookie": "Cookie: session=<40w>; csrf=<32>",
    "header set": "Set-Cookie: sid=<32h>; Path=/; HttpOnly",
    "header in a dict": "{'Authorization': 'Custom <30>', 'Accept': '*/*'}",
    "secret by its name": "AWS_SECRET_ACCESS_KEY=<40b>",
    "secret cohere": "COHERE_API_KEY=<40>",
    "secret in bytes": "password=b'<20>'",
    "token in bytes": 'HF_TOKEN = rb"<24>"',
    "secret comet": "COMET_API_KEY=<25>",
    "secret datadog": "DD_API_KEY=<32h>",
    "secret in code": "os.environ['MISTRAL_API_KEY'] = '<32>'",
    "secret in code with a type": 'api_key: str = "<32>"',
    "secret in JSON": '{"client_secret": "<32>", "user": "me"}',
    "secret in JSON in a string": '{\\"db_password\\": \\"<12>\\"}',
    "secret in yaml": "password: <12>",
    "secret of azure": "DefaultEndpointsProtocol=https;AccountName=x;AccountKey=<86b>==",
    "secret of postgres": "PGPASSWORD=<12> psql -h db",
    "secret with spaces": 'password="correct horse <10>"',
    "secret with a quote": 'password="a\\"<10>"',
    "secret with spaces in single quotes": "export DB_PASS='correct horse <10>'",
    "secret wandb": "WANDB_API_KEY=<40h>",
    "secret heroku": "HEROKU_API_KEY=<8h>-<4h>-<4h>-<4h>-<12h>",
    "secret in a header": "X-API-Key: <32>",
    "token by its name": "HF_TOKEN=<20>",
    "token by its name in code": 'os.environ["CI_JOB_TOKEN"] = "<20>"',
    "token of cloudflare": "CLOUDFLARE_API_TOKEN=<40w>",
    "token of docker": '{"auths": {"ghcr.io": {"auth": "dXNlcjpw<24>"}}}',
    "token of npm": "//registry.npmjs.org/:_authToken=<36>",
    "token in a header": "X-Vault-Token: <26>",
    "token in a query": "https://example.com/x?access_token=<32>&y=1",
    "token of an environment": "SIGNING_PAT=<40>",
    "token of mysql": "MYSQL_PWD=<12>",
    "tokens by their name": "tokens=<24>",
    "secret option": "train.py --wandb-key <40h> --lr 1",
    "secret option with spaces": "train.py --password 'correct horse <10>' --lr 1",
    "secret option in a list": "['run', '--api-key', '<20>']",
    "token option": "train.py --hf-token <20>",
    "user of curl": "curl -s -u me:<12> https://host/x",
    "password of a database": "mysql -u root -p<12> -h db",
    "password of a login": "sshpass -p <12> ssh host",
    "password of a login of docker": "docker login -u me -p <20> registry.example.com",
    "password of redis": "redis-cli -h host -a <20> ping",
    "user of a URL": "https://<24>:@git.example.com/a/b.git",
    "user of a URL with another password": "https://<40h>:x-oauth-basic@github.com/a/b.git",
    "block of YAML": "auth:\\n  user: me\\n  pass: <20>",
    "secret in a block of YAML": "credentials:\n  hub: <20>\n  other: <16>",
    "secret in nested YAML": "database:\n    password:\n        <20>",
    "secret in a scalar of YAML": "api_key: >-\n  <20>",
    "secret with signs": "DB_PASSWORD=<8>,<8>;<8>&<8>",
    "secret that begins with a bracket": "DB_PASSWORD=[<20>",
    "secret that begins with a parenthesis": "export DB_PASSWORD=(<20>",
    "secret that begins with a brace": "db_password: {<20>",
    "variable with a name and a value": "- name: HF_TOKEN\n  value: <20>",
    "variable in a dict": "[{'name': 'DB_PASSWORD', 'value': '<12>'}]",
    "pair of a name and a value": "[('HF_TOKEN', '<20>'), ('PATH', '/usr')]",
    "pair in a call": "os.environ.setdefault('DB_PASSWORD', '<20>')",
    "element of XML": "<password><20></password>",
    "scheme": "add_header X-Api-Key <32>",
    "setting of a command": "setenv WANDB_API_KEY <40h>",
    "setting of a command of Docker": "ENV HF_TOKEN <20>",
    "setting of a command of fish": "set -gx HF_TOKEN <20>",
    "setting of a command of aws": "aws configure set aws_secret_access_key <40b>",
    "setting of a command of npm": "npm config set //registry.npmjs.org/:_authToken <36>",
    "setting of a command of gh": "gh secret set HF_TOKEN --body <20>",
    "key of a login": "wandb login <40h>",
    "key of a login with an option": "wandb login --relogin <40h>",
    "key of a call of login": "wandb.login(key='<40h>')",
    "passphrase of openssl": "openssl enc -d -pass pass:<12> -in x",
    "token of telegram in a URL": "https://api.telegram.org/bot<10d>:AA<33w>/getMe",
    "token of windows": "setx HF_TOKEN <20>",
    "password of an archive": "zip -r -P <12> out.zip runs",
    "password of an archive of 7z": "7z a -p<12> out.7z runs",
    "password of a share": "smbclient //host/share -U me%<12> -c ls",
    "password of a share of lftp": "lftp -u me,<12> -e ls ftp.example.com",
    "keys of mc": "mc alias set store https://s3.example.com <20> <40>",
    "token of vercel": "vercel deploy --prod -t <24>",
    "password of poetry": "poetry config http-basic.private me <20>",
    "password in a sentence": "the password of db is <12>",
    "netrc": "machine api.wandb.ai login user password <40h>",
}
KINDS = TOKENS | SETTINGS
ROWS = {f"{token.name} (row)": token for token in tokens.TOKENS}
GROUP = 8  # tokens in one text
NAMES = [*TOKENS, *ROWS]
GROUPS = {
    f"group {start // GROUP}": NAMES[start : start + GROUP] for start in range(0, len(NAMES), GROUP)
}


@cache
def planted(kind: str, where: str = "") -> tuple[str, list[str]]:
    """Return a text with a secret of the kind, and its secret parts.

    Each `where` has a different secret.
    """
    if kind in GROUPS:
        texts, parts = zip(*(planted(row, where) for row in GROUPS[kind]), strict=True)
        return " ".join(texts), [part for of_row in parts for part in of_row]
    draw = random.Random(f"{SEED} {kind} {where}")
    filled: list[str] = []

    def fill(field: re.Match[str]) -> str:
        filled.append(characters(draw, ALPHABETS[field[2]], int(field[1])))
        return filled[-1]

    if kind in ROWS:
        text, filled = of_row(draw, ROWS[kind])
    else:
        text = FIELD.sub(fill, KINDS[kind])
    parts = [part for part in filled if len(part) >= 8 and not part.isdigit()]
    return text, parts or [text]


def of_row(draw: random.Random, row: tokens.Token) -> tuple[str, list[str]]:
    """Return a text with a token of the row, and the token's fields."""
    text, fields = _of_form(draw, tokens.PART.finditer(row.form))
    return f"{draw.choice(row.after.split())} {text}" if row.after else text, fields


def _of_form(draw: random.Random, parts: Iterator[re.Match[str]]) -> tuple[str, list[str]]:
    """Return a text that the form describes up to the end of the group, and its fields."""
    alternatives: list[tuple[str, list[str]]] = [("", [])]
    for part in parts:
        text, fields = alternatives[-1]
        if part["sign"] == "|":
            alternatives.append(("", []))
        elif part["sign"] == "(":
            more, of_group = _of_form(draw, parts)
            alternatives[-1] = (text + more, fields + of_group)
        elif part["sign"]:
            return draw.choice([*alternatives, ("", [])] if part["sign"] == ")?" else alternatives)
        elif part["least"]:
            length = draw.randint(int(part["least"]), int(part["most"] or part["least"]))
            field = characters(draw, _allowed(part["alphabet"]), length)
            alternatives[-1] = (text + field, [*fields, field])
        else:
            alternatives[-1] = (text + part["text"], fields)
    return draw.choice(alternatives)


@cache
def _allowed(alphabet: str) -> str:
    """Return the characters of an alphabet of `tokens`."""
    allowed = re.compile(f"[{tokens.ALPHABETS[alphabet]}]")
    return "".join(filter(allowed.match, map(chr, range(33, 127))))


def characters(draw: random.Random, alphabet: str, length: int) -> str:
    """Return random characters. One of the first is a digit, as in real secrets, but not all."""
    text = "".join(draw.choices(alphabet, k=length))
    digits = [digit for digit in "23456789" if digit in alphabet]
    at = draw.randrange(1, max(2, length // 2))
    if digits and length > 1:
        text = text[:at] + draw.choice(digits) + text[at + 1 :]
    letters = [letter for letter in alphabet if letter.isalpha()] if text.isdigit() else []
    return text[:-1] + draw.choice(letters) if letters else text
