"""What a secret looks like: one table of rules, the same for every text that could be stored.

`TOKENS` are known by their own form, as vendors publish it; `SETTINGS` by what stands before them,
such as the name of a variable or a header; `COMMANDS` by an option of a command.

The patterns are written in what RE2 and Python's `re` have in common. DuckDB finds the texts of a
run that hold a secret with the one, `secrets.py` redacts these with the other. What precedes a
secret is of bounded length, so that no text takes long.
"""

import re
from collections.abc import Iterable
from itertools import chain
from typing import NamedTuple


class Rule(NamedTuple):
    """A kind of secret.

    `keywords`: a text without any of them holds no such secret. One with a capital letter stands in
    texts as it is, others in any case. A rule without keywords is always tried.
    `pattern`: its group is the secret; of several groups one takes part, and none in what is
    innocent. Without groups, the whole is the secret.
    `entropy`: of the secret at least, in bits a character.
    `unless`: what may stand in a secret's place and is none.
    """

    kind: str
    keywords: tuple[str, ...]
    pattern: str
    entropy: float | None = None
    unless: str | None = None


# A token stands apart: what precedes it is no letter or digit, or an escape in JSON or in a URL.
APART = r"(?:^|[^A-Za-z0-9]|\\(?:[bfnrt]|u[0-9A-Fa-f]{4})|%[0-9A-Fa-f]{2})"

TOKENS = [
    ("1password", "ops_eyJ", r"ops_eyJ[\w+/=-]{40,}"),
    ("adafruit", "aio_", r"aio_[A-Za-z0-9]{28}"),
    ("age", "AGE-SECRET-KEY-1", r"AGE-SECRET-KEY-1[0-9A-Z]{20,}"),
    ("airtable", "", r"pat[A-Za-z0-9]{14}\.[0-9a-f]{40,}"),
    ("alibaba", "LTAI", r"LTAI[A-Za-z0-9]{12,}"),
    ("anyscale", "esecret_", r"esecret_[A-Za-z0-9]{20,}"),
    ("artifactory", "AKCp cmVmdGtuO", r"(?:AKCp[A-Za-z0-9]{50,}|cmVmdGtuO[A-Za-z0-9]{50,})"),
    ("atlassian", "ATATT3 ATCTT3 ATBB", r"(?:AT[AC]TT3[\w=.-]{20,}|ATBB[A-Za-z0-9]{24,})"),
    ("aws", "AKIA ASIA ABIA ACCA", r"(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16}"),
    ("aws bedrock", "ABSK bedrock-api-key-", r"(?:ABSK|bedrock-api-key-)[A-Za-z0-9+/]{60,}=*"),
    ("azure", "Q~", r"[\w~.]{3}[0-9]Q~[\w~.-]{31,}"),
    ("azure devops", "AZDO", r"[A-Za-z0-9]{70,}AZDO[A-Za-z0-9]{4}"),
    (
        "azure key", "+ASt +ABa ACDb APIM JQQJ9",
        r"(?:[A-Za-z0-9+/]{76}(?:\+ASt|\+ABa|ACDb|APIM)[A-Za-z0-9+/]{5}[AQgw]=="
        r"|[A-Za-z0-9]{52}JQQJ9[9D][A-Za-z0-9]{20,})",
    ),
    ("brevo", "xkeysib- xsmtpsib-", r"x(?:key|smtp)sib-[\w-]{40,}"),
    ("buildkite", "bkua_", r"bkua_[0-9a-z]{40}"),
    ("cerebras", "csk-", r"csk-[A-Za-z0-9]{32,}"),
    ("circleci", "CCIPAT_ CCIPRJ_", r"CCIP(?:AT|RJ)_\w{20,}"),
    ("clojars", "CLOJARS_", r"CLOJARS_[0-9a-f]{60}"),
    ("cloudflare", "v1.0-", r"v1\.0-[0-9a-f]{24}-[0-9a-f]{100,}"),
    ("contentful", "CFPAT-", r"CFPAT-[\w-]{40,}"),
    ("crates.io", "cio", r"cio[A-Za-z0-9]{32}"),
    ("databricks", "dapi dkea dose", r"(?:dapi|dkea|dose)[0-9A-Za-z]{32}(?:-[0-9])?"),
    ("digitalocean", "doo_v1_ dop_v1_ dor_v1_", r"do[opr]_v1_[0-9A-Za-z]{32,}"),
    ("discord", "", r"[MNO][\w-]{23,25}\.[\w-]{6}\.[\w-]{27,38}"),
    ("docker", "dckr_pat_ dckr_oat_", r"dckr_[op]at_[\w-]{16,}"),
    ("doppler", "dp.", r"dp\.(?:audit|ct|pt|sa|scim|st)\.(?:[\w-]{1,40}\.)?[A-Za-z0-9]{32,}"),
    ("dropbox", "sl.", r"sl\.(?:u\.)?[\w=-]{60,}"),
    ("dynatrace", "dt0", r"dt0[a-z][0-9]{2}\.[A-Z0-9]{24}\.[A-Z0-9]{60,}"),
    ("easypost", "EZAK EZTK", r"EZ[AT]K[A-Za-z0-9]{54}"),
    ("facebook", "EAA", r"EAA[\w-]{57,}"),  # Square's too
    ("figma", "figd_", r"figd_[\w-]{20,}"),
    ("firecrawl", "fc-", r"fc-[0-9a-f]{32}"),
    ("fireworks", "fw_", r"fw_[A-Za-z0-9]{20,}"),
    ("fly.io", "fo1_ fm1 fm2_ flyv1", r"(?:fo1_[\w-]{20,}|fm[12][ar]?_[\w+/=]{20,})"),
    ("frame.io", "fio-u-", r"fio-u-[\w=-]{40,}"),
    ("github", "ghp_ gho_ ghu_ ghs_ ghr_", r"gh[pousr]_[A-Za-z0-9]{20,}"),
    ("github fine-grained", "github_pat_", r"github_pat_\w{20,}"),
    (
        "gitlab", "glagent- glcbt- gldt- glffct- glft- glimt- gloas- glpat- glptt- glrt- glsoat-",
        r"gl(?:agent|cbt|dt|ffct|ft|imt|oas|pat|ptt|rt|soat)-[\w.-]{16,}",
    ),
    ("gitlab runner", "GR1348941", r"GR1348941[\w-]{16,}"),
    ("google", "AIza", r"AIza[\w-]{30,}"),
    ("google client", "GOCSPX-", r"GOCSPX-[\w-]{20,}"),
    ("google oauth", "ya29. 1//0", r"(?:ya29\.[\w.-]{20,}|1//0[\w-]{40,})"),
    ("grafana", "glsa_ glc_ eyJrIjoi", r"(?:glsa_\w{20,}|(?:glc_|eyJrIjoi)[\w+/=-]{30,})"),
    ("groq", "gsk_", r"gsk_[A-Za-z0-9]{20,}"),
    ("heroku", "HRKU-", r"HRKU-[\w-]{30,}"),
    ("hugging face", "hf_ api_org_", r"(?:hf|api_org)_[A-Za-z0-9]{16,}"),
    ("jina", "jina_", r"jina_[A-Za-z0-9]{30,}"),
    ("jwt", "eyJ", r"eyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*){1,3}"),
    ("kaggle", "KGAT_", r"KGAT_[0-9A-Za-z]{20,}"),
    ("langsmith", "lsv2_ ls__", r"(?:lsv2_\w{20,}|ls__[0-9A-Za-z]{30,})"),
    ("linear", "lin_api_ lin_oauth_", r"lin_(?:api|oauth)_[A-Za-z0-9]{20,}"),
    ("mailchimp", "-us", r"[0-9a-f]{32}-us[0-9]{1,2}"),
    ("mailgun", "key-", r"key-[0-9a-f]{32}"),
    ("mapbox", "sk.eyJ", r"sk\.eyJ[\w-]{20,}\.[\w-]{16,}"),
    ("neon", "napi_", r"napi_[0-9a-z]{40,}"),
    ("neptune", "eyJhcGlf", r"eyJhcGlf[\w+/=-]{40,}"),
    ("netlify", "nfp_", r"nfp_[A-Za-z0-9]{30,}"),
    ("new relic", "NRAK- NRII- NRJS- NRRA-", r"NR(?:AK|II|JS|RA)-[A-Za-z0-9]{16,}"),
    ("notion", "ntn_ secret_", r"(?:ntn_[A-Za-z0-9]{20,}|secret_[A-Za-z0-9]{32,})"),
    ("npm", "npm_", r"npm_[A-Za-z0-9]{30,}"),
    ("nuget", "oy2", r"oy2[0-9a-z]{43}"),
    ("nvidia", "nvapi-", r"nvapi-[\w-]{20,}"),
    (
        "openai", "sk-",  # Anthropic's, DeepSeek's, OpenRouter's and others' too
        r"sk-(?:(?:admin|ant|lf|or|proj|svcacct)-[\w-]{20,}"
        r"|(?:[a-z]{1,20}[0-9]{0,4}-){0,4}[A-Za-z0-9]{20,}[\w-]*)",
    ),
    ("openshift", "sha256~", r"sha256~[\w-]{43}"),
    ("perplexity", "pplx-", r"pplx-[A-Za-z0-9]{20,}"),
    ("pinecone", "pcsk_", r"pcsk_\w{20,}"),
    ("planetscale", "pscale_", r"pscale_(?:oauth|pw|tkn|token)_[\w.=-]{20,}"),
    ("posthog", "phx_", r"phx_[A-Za-z0-9]{30,}"),
    ("postman", "PMAK-", r"PMAK-[0-9A-Za-z]{20,}(?:-[0-9A-Za-z]+)?"),
    ("prefect", "pnu_ pnb_", r"pn[bu]_[0-9A-Za-z]{30,}"),
    ("pulumi", "pul-", r"pul-[0-9A-Za-z]{36,}"),
    ("pypi", "pypi-", r"pypi-[\w-]{30,}"),
    ("readme", "rdme_", r"rdme_[0-9a-z]{60,}"),
    ("replicate", "r8_", r"r8_[A-Za-z0-9]{30,}"),
    ("resend", "re_", r"re_[A-Za-z0-9]{8}_[A-Za-z0-9]{24}"),
    ("rubygems", "rubygems_", r"rubygems_[0-9A-Za-z]{32,}"),
    ("runpod", "rpa_", r"rpa_[A-Z0-9]{36,}"),
    ("sendgrid", "SG.", r"SG\.[\w-]{16,}\.[\w-]{16,}"),
    ("sentry", "sntrys_ sntryu_", r"sntry[su]_[\w+/=-]{20,}"),
    ("shopify", "shpat_ shpca_ shppa_ shpss_ shpua_", r"shp(?:at|ca|pa|ss|ua)_[0-9A-Za-z]{20,}"),
    ("shippo", "shippo_live_ shippo_test_", r"shippo_(?:live|test)_[0-9a-f]{32,}"),
    ("slack", "xox xapp-", r"(?:xox[abceoprs](?:\.xox[bp])?|xapp)-[\w-]{10,}"),
    ("sonar", "sqa_ sqp_ squ_", r"sq[apu]_[0-9a-f]{40}"),
    ("square", "sq0atp- sq0csp-", r"sq0(?:atp|csp)-[\w-]{20,}"),
    ("stripe", "_live_ _test_", r"[rs]k_(?:live|test)_[A-Za-z0-9]{10,}"),
    ("stripe webhook", "whsec_", r"whsec_[A-Za-z0-9+/=]{20,}"),
    ("elevenlabs", " ".join(f"sk_{digit:x}" for digit in range(16)), r"sk_[0-9a-f]{40,}"),
    ("supabase", "sbp_ sb_secret_", r"(?:sbp_[0-9A-Za-z]{20,}|sb_secret_[\w-]{20,})"),
    ("tailscale", "tskey-", r"tskey-[\w-]{16,}"),
    ("tavily", "tvly-", r"tvly-[\w-]{20,}"),
    ("telegram", ":AA", r"[0-9]{8,10}:AA[\w-]{32,}"),
    ("tencent", "AKID", r"AKID[A-Za-z0-9]{32}"),
    ("terraform", ".atlasv1.", r"[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{20,}"),
    ("together", "tgp_v1_", r"tgp_v1_[\w-]{20,}"),
    ("twilio", " ".join(f"SK{digit:x}" for digit in range(16)), r"SK[0-9a-f]{32}"),
    ("typeform", "tfp_", r"tfp_[\w.=-]{40,}"),
    ("vault", "hvs. hvb. hvr.", r"hv[brs]\.[\w-]{20,}"),
    ("voyage", "pa-", r"pa-[\w-]{40,}", 4.2),
    ("wandb", "wandb_v", r"wandb_v[0-9]_\w{20,}"),
    ("xai", "xai-", r"xai-[A-Za-z0-9]{20,}"),
    ("yandex", "AQVN", r"AQVN[\w-]{35,38}"),
]  # fmt: skip

# What names a secret, whatever its value is.
SECRET = (
    r"(?i:secret|passw|passphrase|passcode|credential|authorization|cookie|bearer"
    r"|(?:access|account|admin|anthropic|api|app|auth|aws|azure|client|cohere|comet|datadog|deepseek"
    r"|deploy|encryption|gemini|groq|huggingface|kaggle|license|master|mistral|neptune|ngc|nvidia"
    r"|openai|pinecone|private|replicate|service|shared|signing|ssh|storage|subscription|together"
    r"|wandb|webhook)[ _-]?key"
    r"|(?:admin|database|db|ftp|http|ldap|login|mail|my|proxy|redis|root|smtp|user)[_-]?pass\b)"
)
# What may name one; the value tells. `KEY` and the like are an environment's.
UNSURE = r"(?:(?i:tokens?\b|(?:\b|_)(?:auth|pwd)\b)|[A-Z0-9]_(?:KEY|PASS|PAT|PW)\b)"
# What only sounds like one of these.
INNOCENT = (
    r"(?:(?i:password[ _-]?less|(?:passw(?:or)?d|secret|cookie|credential)s?[_-]"
    r"(?:count|field|file|helper|len|length|name|path|policy|size|type))"
    r"|(?:ATTN|CACHE|DICT|DISPATCH|FOREIGN|GROUP|HASH|INDEX|LOOKUP|PARTITION|PRIMARY|PUBLIC|QUERY"
    r"|SORT|UNIQUE)_KEY)"
)
# What stands in the place of any secret, and in that of one that is not sure.
PLACEHOLDER = (
    r"(?i:none|null|nil|true|false|yes|no|undefined)|\*+|\.+|%\(?\w*\)?[sdr]|\$\{?[A-Z_0-9]+\}?"
    r"|\{[\w.]*\}|<.*>|\[.*\]|(?:args|cfg|config|getenv|os|self)[.(].*"
    r"|(?:[a-z_]+[._])?(?:api_key|password|secret|tokens?)|v?\d+(?:\.\d+)+(?:=\S*)?"
)
PLAIN = (
    rf"{PLACEHOLDER}|v?\d[\d_.,]*[kKMGB]?\W*|v?\d+(?:\.\d+)+\S*|[~/.].*"
    r"|(?:[a-z_]+\.)*[a-z_]*tokens?|(?:str|int|float|bool|bytes|list|dict|tuple|Any|Tensor)\b.*"
)
WORD = r"(?:[A-Z]?[a-z]+[0-9]*)+|[a-z0-9]+|[A-Z0-9]+"

IS = (  # what stands between a name and its value: in code, environments, headers, JSON in a string
    r"(?:\\{0,7}[\"'])?\]?\s{0,5}(?::\s?(?:str|bytes)\s?)?(?:=>|:=|=|:)\s{0,5}"
)
QUOTED = (
    r"\"((?:[^\"\\]|\\.)+)|'((?:[^'\\]|\\.)+)"
    r"|\\[\"']((?:[^\"'\\]|\\{2,6}[\"']?)+)|\\{2,7}[\"']([^\"'\\]+(?:\\+[^\"'\\]+)*)"
)
BARE = r"([^\s\"'\\,;&=:()\[\]{}<>][^\s\"'\\,;&]*)"
VALUE = rf"(?:{QUOTED}|{BARE})"
PARTS = (  # of a header, such as `Digest username="u", response="…"`
    r"((?:[^\"'\\\r\n=]|=\\{0,7}\"[^\"\\\r\n]*\\{0,7}\"|=)+)"
)
KEY_EDGE = r"-----(?:BEGIN|END) [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
KEY_END = KEY_EDGE.replace("BEGIN|END", "END")

SETTINGS = [
    ("private key", "PRIVATE", rf"{KEY_EDGE.replace('BEGIN|END', 'BEGIN')}(?s:.*?{KEY_END}|.*)"),
    ("password in a URL", "://", r"://[^/\s:@\"']{0,100}:([^/\s\"']+)@", None, PLACEHOLDER),
    (
        "token in a URL", "://", r"(?:ftp|git|https?|ssh)://([^/\s:@\"'\\]{8,})@",
        3.0, r"[A-Za-z._-]+[0-9]{0,4}|.*%40.*",
    ),
    (
        "webhook", "hook qyapi", r"(?:hooks\.slack\.com/(?:services|triggers|workflows)"
        r"|discord(?:app)?\.com/api/webhooks|hooks\.zapier\.com/hooks(?:/catch)?"
        r"|office(?:365)?\.com/webhook(?:b2)?|(?:feishu\.cn|larksuite\.com)/open-apis/bot/v2/hook"
        r"|qyapi\.weixin\.qq\.com/cgi-bin/webhook/send\?key=)/?([^\s\"'\\<>]{8,})",
    ),
    (
        "signature of a URL", "x-amz- x-goog- sig= signature=",
        r"(?i:x-(?:amz|goog)-(?:credential|security-token|signature)|[?&;]sig(?:nature)?)="
        r"([^\s\"'\\,;&]+)",
    ),
    (
        "bearer", "bearer", r"(?i:bearer)\s{1,5}([\w.~+/-]{8,}=*)",
        None, r"(?i:auth\w*|tokens?\b.*|credential\w*)",
    ),
    ("basic", "basic", r"(?i:\bbasic)\s{1,5}([A-Za-z0-9+/]{8,}={0,2})", None, WORD),
    (
        "header", "authorization cookie",
        rf"(?i:authorization|cookies?)(?:\\{{0,7}}[\"'])?\s{{0,5}}[=:]\s{{0,5}}(?:{QUOTED}|{PARTS})",
        None, PLACEHOLDER,
    ),
    (
        "secret by its name", "secret pass credential authorization cookie bearer key",
        rf"{INNOCENT}|{SECRET}[\w.-]{{0,40}}{IS}(?:{VALUE}|(\{{[^{{}}]*[\"'][^{{}}]*\}}))",
        None, PLACEHOLDER,
    ),
    (
        "token by its name", "token auth pwd _KEY _PASS _PAT _PW",
        rf"{INNOCENT}|(?:(?i:token|(?:\b|_)(?:auth|pwd))|[A-Z0-9]_(?:KEY|PASS|PAT|PW)){IS}{VALUE}",
        None, PLAIN,
    ),
    ("tokens by their name", "tokens", rf"(?i:tokens){IS}{VALUE}", 3.0, rf"{PLAIN}|.{{0,11}}|\D*"),
]  # fmt: skip


OPTION = r"(?:^|[\s\"'(\[,])--?[\w-]{0,60}"
GAP = r"(?:\s{1,5}|\\{0,7}[\"'],\s{0,5})"
OF_OPTION = rf"(?:{QUOTED}|([^-\s\"'\\][^\s\"']*))"
WITHIN = r"\s(?:[^\r\n|;]{0,200}?\s)?"  # further arguments between a command and an option

COMMANDS = [
    (
        "secret option", "secret pass credential authorization cookie bearer key",
        rf"{OPTION}{INNOCENT}|{OPTION}{SECRET}[\w-]{{0,40}}{GAP}{OF_OPTION}", None, PLACEHOLDER,
    ),
    (
        "token option", "token --auth --pass --pat --pwd",
        rf"(?:{OPTION}(?i:tokens?)|--(?:auth|pass|pat|pwd)){GAP}{OF_OPTION}", None, PLAIN,
    ),
    (
        "user of curl", "curl",
        rf"\bcurl{WITHIN}(?:-u|--user|--proxy-user)[\s=]{{0,5}}\\{{0,7}}[\"']?[^\s:\"'\\]{{1,100}}:"
        r"([^\s\"'\\]+)",
    ),
    (
        "password of a database", "mysql mariadb mongo",
        rf"\b(?:mysql\w{{0,10}}|mariadb[\w-]{{0,10}}|mongo\w{{0,10}}){WITHIN}-p\s{{0,1}}"
        r"\\{0,7}[\"']?([^-\s\"'\\][^\s\"'\\]*)",
    ),
    ("password of redis", "redis-cli", rf"\bredis-cli{WITHIN}-a\s{{1,5}}[\"']?([^\s\"'\\]+)"),
    (
        "password of a login", "sshpass login",
        rf"\b(?:sshpass|(?:docker|podman|helm)\s{{1,5}}(?:registry\s)?login){WITHIN}-p[\s=]{{0,5}}"
        r"[\"']?([^-\s\"'\\][^\s\"'\\]*)",
    ),
    (
        "netrc", "password",
        r"(?i:\b(?:machine|login|account)(?:\s|\\n){1,5}\S{1,100}(?:\s|\\n){1,5}password"
        r"(?:\s|\\n){1,5})([^\s\"'\\]+)",
    ),
]  # fmt: skip


def _rules(
    rows: Iterable[tuple[str, str, str] | tuple[str, str, str, float | None, str | None]],
    before: str = "",
) -> tuple[Rule, ...]:
    return tuple(
        Rule(kind, tuple(keywords.split()), f"{before}({pattern})" if before else pattern, *limits)
        for kind, keywords, pattern, *limits in rows
    )


OF_COMMANDS = _rules(COMMANDS)
RULES = (*_rules(SETTINGS), *_rules(TOKENS, APART), *OF_COMMANDS)

# For RE2, which of all texts finds those that may hold a secret: by the keywords, or by the rules
# themselves; and for JSON by the names of keys, and by commands, of which it may hold the words.
PATTERNS = "|".join(f"(?:{rule.pattern})" for rule in RULES)
NAMES = rf"{SECRET}|{UNSURE}|curl|mysql|mariadb|mongo|redis-cli|sshpass|login"
WORDS = tuple(dict.fromkeys(chain.from_iterable(rule.keywords for rule in RULES)))
KEYWORDS = "|".join(
    [
        "(?i:" + "|".join(re.escape(word) for word in WORDS if word == word.lower()) + ")",
        *(re.escape(word) for word in WORDS if word != word.lower()),
        *(rule.pattern for rule in RULES if not rule.keywords),
    ]
)
