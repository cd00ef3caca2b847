"""Rules for secrets that the text before them reveals.

`SETTINGS`: after the name of a variable, in a header, or in a URL. `COMMANDS`: after an option.
"""

from ingest.redaction.rule import Rule

# Names of secrets, regardless of the value.
SECRET = (
    r"(?i:secret|passw|passphrase|passcode|credential|authorization|cookie|bearer"
    r"|(?:access|account|admin|anthropic|api|app|auth|aws|azure|client|cohere|comet|datadog|deepseek"
    r"|deploy|encryption|gemini|groq|huggingface|kaggle|license|master|mistral|neptune|ngc|nvidia"
    r"|openai|pinecone|private|replicate|service|shared|signing|ssh|storage|subscription|together"
    r"|wandb|webhook)[ _-]?key"
    r"|(?:admin|database|db|ftp|http|ldap|login|mail|my|proxy|redis|root|smtp|user)[_-]?pass\b)"
)
# Names that may be those of secrets, depending on the value. `_KEY` is for environment variables.
UNSURE = r"(?:(?i:tokens?\b|(?:\b|_)(?:auth|pwd)\b)|[A-Z0-9]_(?:KEY|PASS|PAT|PW)\b)"
# Names that only look like one of these.
INNOCENT = (
    r"(?:(?i:password[ _-]?less|(?:passw(?:or)?d|secret|cookie|credential)s?[_-]"
    r"(?:count|field|file|helper|len|length|name|path|policy|size|type))"
    r"|(?:ATTN|CACHE|DICT|DISPATCH|FOREIGN|GROUP|HASH|INDEX|LOOKUP|PARTITION|PRIMARY|PUBLIC|QUERY"
    r"|SORT|UNIQUE)_KEY)"
)
# Harmless values after any name, and (`PLAIN`) after a name that may be that of a secret.
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

IS = (  # between a name and its value: in code, environments, headers and JSON inside a string
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
KEY_BEGIN, KEY_END = (
    rf"-----{edge} [A-Z ]{{0,40}}PRIVATE KEY(?: BLOCK)?-----" for edge in ("BEGIN", "END")
)

SETTINGS = (
    Rule("private key", "PRIVATE", rf"{KEY_BEGIN}(?s:.*?{KEY_END}|.*)"),
    Rule("password in a URL", "://", r"://[^/\s:@\"']{0,100}:([^/\s\"']+)@", None, PLACEHOLDER),
    Rule(
        "token in a URL", "://", r"(?:ftp|git|https?|ssh)://([^/\s:@\"'\\]{8,})@",
        3.0, r"[A-Za-z._-]+[0-9]{0,4}|.*%40.*",
    ),
    Rule(
        "webhook", "hook qyapi", r"(?:hooks\.slack\.com/(?:services|triggers|workflows)"
        r"|discord(?:app)?\.com/api/webhooks|hooks\.zapier\.com/hooks(?:/catch)?"
        r"|office(?:365)?\.com/webhook(?:b2)?|(?:feishu\.cn|larksuite\.com)/open-apis/bot/v2/hook"
        r"|qyapi\.weixin\.qq\.com/cgi-bin/webhook/send\?key=)/?([^\s\"'\\<>]{8,})",
    ),
    Rule(
        "signature of a URL", "x-amz- x-goog- sig= signature=",
        r"(?i:x-(?:amz|goog)-(?:credential|security-token|signature)|[?&;]sig(?:nature)?)="
        r"([^\s\"'\\,;&]+)",
    ),
    Rule(
        "bearer", "bearer", r"(?i:bearer)\s{1,5}([\w.~+/-]{8,}=*)",
        None, r"(?i:auth\w*|tokens?\b.*|credential\w*)",
    ),
    Rule("basic", "basic", r"(?i:\bbasic)\s{1,5}([A-Za-z0-9+/]{8,}={0,2})", None, WORD),
    Rule(
        "header", "authorization cookie",
        rf"(?i:authorization|cookies?)(?:\\{{0,7}}[\"'])?\s{{0,5}}[=:]\s{{0,5}}(?:{QUOTED}|{PARTS})",
        None, PLACEHOLDER,
    ),
    Rule(
        "secret by its name", "secret pass credential authorization cookie bearer key",
        rf"{INNOCENT}|{SECRET}[\w.-]{{0,40}}{IS}(?:{VALUE}|(\{{[^{{}}]*[\"'][^{{}}]*\}}))",
        None, PLACEHOLDER,
    ),
    Rule(
        "token by its name", "token auth pwd _KEY _PASS _PAT _PW",
        rf"{INNOCENT}|(?:(?i:token|(?:\b|_)(?:auth|pwd))|[A-Z0-9]_(?:KEY|PASS|PAT|PW)){IS}{VALUE}",
        None, PLAIN,
    ),
    Rule(
        "tokens by their name", "tokens", rf"(?i:tokens){IS}{VALUE}",
        3.0, rf"{PLAIN}|.{{0,11}}|\D*",
    ),
)  # fmt: skip


OPTION = r"(?:^|[\s\"'(\[,])--?[\w-]{0,60}"
GAP = r"(?:\s{1,5}|\\{0,7}[\"'],\s{0,5})"
OF_OPTION = rf"(?:{QUOTED}|([^-\s\"'\\][^\s\"']*))"
WITHIN = r"\s(?:[^\r\n|;]{0,200}?\s)?"  # further arguments between a command and an option

COMMANDS = (
    Rule(
        "secret option", "secret pass credential authorization cookie bearer key",
        rf"{OPTION}{INNOCENT}|{OPTION}{SECRET}[\w-]{{0,40}}{GAP}{OF_OPTION}", None, PLACEHOLDER,
    ),
    Rule(
        "token option", "token --auth --pass --pat --pwd",
        rf"(?:{OPTION}(?i:tokens?)|--(?:auth|pass|pat|pwd)){GAP}{OF_OPTION}", None, PLAIN,
    ),
    Rule(
        "user of curl", "curl",
        rf"\bcurl{WITHIN}(?:-u|--user|--proxy-user)[\s=]{{0,5}}\\{{0,7}}[\"']?[^\s:\"'\\]{{1,100}}:"
        r"([^\s\"'\\]+)",
    ),
    Rule(
        "password of a database", "mysql mariadb mongo",
        rf"\b(?:mysql\w{{0,10}}|mariadb[\w-]{{0,10}}|mongo\w{{0,10}}){WITHIN}-p\s{{0,1}}"
        r"\\{0,7}[\"']?([^-\s\"'\\][^\s\"'\\]*)",
    ),
    Rule("password of redis", "redis-cli", rf"\bredis-cli{WITHIN}-a\s{{1,5}}[\"']?([^\s\"'\\]+)"),
    Rule(
        "password of a login", "sshpass login",
        rf"\b(?:sshpass|(?:docker|podman|helm)\s{{1,5}}(?:registry\s)?login){WITHIN}-p[\s=]{{0,5}}"
        r"[\"']?([^-\s\"'\\][^\s\"'\\]*)",
    ),
    Rule(
        "netrc", "password",
        r"(?i:\b(?:machine|login|account)(?:\s|\\n){1,5}\S{1,100}(?:\s|\\n){1,5}password"
        r"(?:\s|\\n){1,5})([^\s\"'\\]+)",
    ),
)  # fmt: skip
