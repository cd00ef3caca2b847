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
    r"(?:(?i:password[ _-]?less|\b[\w-]{0,40}?(?:passw(?:or)?d|secret|cookie|credential|key"
    r"|token|auth)s?[_-]"
    r"(?:count|dim|dir|directory|field|file|filename|helper|index|len|length|name|path|policy|size"
    r"|type|url)s?\b)"
    r"|(?:ATTN|CACHE|DICT|DISPATCH|FOREIGN|GROUP|HASH|INDEX|LOOKUP|PARTITION|PRIMARY|PUBLIC|QUERY"
    r"|SORT|UNIQUE)_KEY)"
)
# Values that are code: types, such as `f32[1, 768]`, calls and attributes.
CODE = (
    r"(?:(?:[a-z_]+\.)*(?:Any|AnyStr|Bool|Callable|ClassVar|Dict|Final|Float|FloatTensor|Int|Iterable"
    r"|Iterator|List|Literal|LongTensor|Mapping|None|Optional|Sequence|Set|Tensor|Tuple|Type|Union"
    r"|bool|bytes|dict|float|frozenset|int|list|object|set|str|tensor|tuple|type)\b(?:[\[(|,):;].*)?"
    r"|(?:[A-Z]+[a-z]+){2,}(?:\[.*|[,):;]*)"
    r"|(?:bf|[bcfiu]|float|int|uint|complex|bool)\d{0,3}\[.*"
    r"|[a-z_]+\d{0,3}(?:\.[A-Za-z_]+\d{0,3})+[(\[].*"
    r"|(?:[a-z_]+\.)+[a-z_]+[,):;]*"
    r"|(?:[Ff]ield|attrib|Body|Cookie|Depends|Form|Header|Param|Query|Argument|Option)\(.*"
    r"|[bfru]{1,2})"  # before a quote
)
# Harmless values after any name, and (`PLAIN`) after a name that may be that of a secret.
PLACEHOLDER = (
    r"(?:(?i:none|null|nil|true|false|yes|no|undefined)[,):;]*|\*+|\.+|%\(?\w*\)?[sdr]"
    r"|\$\{?[A-Z_0-9]+\}?|\{[\w.]*\}|<.*>|\[.*\]|\(.*\)|(?:args|cfg|config|getenv|os|self)[.(].*"
    r"|(?:[a-z_]+[._])?(?:api_key|password|secret|tokens?)|v?\d+(?:\.\d+)+(?:=\S*)?"
    rf"|{CODE})"
)
PLAIN = (
    rf"{PLACEHOLDER}|v?\d[\d_.,]*[kKMGB]?\W*|v?\d+(?:\.\d+)+\S*|[~/.].*"
    r"|(?:[a-z_]+\.)*[a-z_]*tokens?|[a-z_]+\d{0,2}[(\[].*"
)
WORD = r"(?:[A-Z]?[a-z]+[0-9]*)+|[a-z0-9]+|[A-Z0-9]+"

IS = (  # between a name and its value: in code, environments, headers and JSON inside a string
    r"(?:\\{0,7}[\"'])?\]?\s{0,5}(?::\s?(?:str|bytes)\s?)?(?:=>|:=|=|:|%3D)\s{0,5}"
    r"(?:[>|][+-]?(?:\s|\\n){1,20})?"  # the begin of a block of YAML
)
QUOTED = (
    r"\"((?:[^\"\\]|\\.)+)|'((?:[^'\\]|\\.)+)"
    r"|\\[\"']((?:[^\"'\\]|\\{2,6}[\"']?)+)|\\{2,7}[\"']([^\"'\\]+(?:\\+[^\"'\\]+)*)"
)
BARE = r"((?:[^\s\"'\\,;&=:)\]}<>]|<[^\s\"'\\a-z])[^\s\"'\\]*)"
# The end of a value that is not quoted: before the next setting, or a sign after the last one.
END = r"[,;&]+(?:$|[\w.-]*[=:])"
VALUE = rf"(?:[BFRUbfru]{{0,2}}(?:{QUOTED})|{BARE})"  # also b"…"
PARTS = (  # of a header, such as `Digest username="u", response="…"`
    r"((?:[^\"'\\\r\n=]|=\\{0,7}\"[^\"\\\r\n]*\\{0,7}\"|=)+)"
)
KEY_BEGIN, KEY_END = (
    rf"-----{edge} [A-Z ]{{0,40}}PRIVATE KEY(?: BLOCK)?-----" for edge in ("BEGIN", "END")
)

# A value after a space, which must not be a plain word.
SPACED = rf"(?:{QUOTED}|([^-\s\"'\\][^\s\"'\\]{{5,}}))"
UNSPACED = rf"{PLACEHOLDER}|\d[\d_.,]*\W*|[A-Za-z][a-z]*(?:[_.-][a-z]+)*[.,;:!?)]*"
NAME = rf"(?:{SECRET}[\w.-]{{0,40}}|{UNSURE})"
# Lines of YAML that are indented more than a name before them.
BLOCK = r"[ \t]{0,9}((?:(?:\r?\n|\\{1,7}n)[ \t]{1,40}[^\r\n\\]+)+)"
HARMLESS_BLOCK = rf"\s*[\w.-]+:\s+(?:{PLAIN})"

SETTINGS = (
    Rule("private key", "PRIVATE", rf"{KEY_BEGIN}(?s:.*?{KEY_END}|.*)"),
    Rule("user of a URL", "://", r"://([^/\s:@\"'\\]{8,}):(?:x-oauth-basic)?@", None, PLACEHOLDER),
    Rule("password in a URL", "://", r"://[^/\s:@\"']{0,100}:([^/\s\"']+)@", None, PLACEHOLDER),
    Rule(
        "token in a URL", "://", r"(?:ftp|git|https?|ssh)://([^/\s:@\"'\\]{8,})@",
        2.5, r"[A-Za-z._-]+[0-9]{0,4}|.*%40.*",
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
    Rule("block of YAML", "auth", rf"\bauth[\"']?:{BLOCK}", None, HARMLESS_BLOCK),
    Rule(
        "variable with a name and a value", "secret pass credential key token auth pwd pat _pw",
        rf"(?i:\b(?:name|key|variable)[\"']?\s{{0,5}}[:=]\s{{0,5}}[\"']?){INNOCENT}"
        rf"|(?i:\b(?:name|key|variable)[\"']?\s{{0,5}}[:=]\s{{0,5}}[\"']?)[\w.-]{{0,60}}?{NAME}[\"']?"
        rf"(?:\s|\\n|,){{0,40}}[\"']?(?i:value)[\"']?\s{{0,5}}[:=]\s{{0,5}}{VALUE}", None, PLAIN,
    ),
    Rule(
        "pair of a name and a value", "secret pass credential key token auth pwd pat _pw",
        rf"[(\[]\s{{0,5}}\\{{0,7}}[\"'](?:{INNOCENT}|[\w.-]{{0,60}}?{NAME}\\{{0,7}}[\"']\s{{0,5}},"
        rf"\s{{0,5}}(?:{QUOTED})\\{{0,7}}[\"']\s{{0,5}}[)\]])", None, UNSPACED,
    ),
    Rule(
        "element of XML", "secret pass credential cookie key token",
        rf"<(?:{SECRET}|{UNSURE})[\w.-]{{0,40}}>([^<>\r\n]+)<", None, PLAIN,
    ),
    Rule(
        "scheme", "api-key api_key apikey ssws",
        r"(?i:\b(?:x-)?api[_-]?key|\bssws)\s{1,5}[\"']?([\w.~+/-]{16,}=*)", None, UNSPACED,
    ),
    Rule(
        "secret by its name", "secret pass credential authorization cookie bearer key",
        rf"{INNOCENT}|{SECRET}[\w.-]{{0,40}}(?:[\"']?:{BLOCK}"
        rf"|{IS}(?:{VALUE}|(\{{[^{{}}]*[\"'][^{{}}]*\}})))",
        None, rf"{PLACEHOLDER}|{HARMLESS_BLOCK}", END,
    ),
    Rule(
        "token by its name", "token auth pwd _KEY _PASS _PAT _PW",
        rf"{INNOCENT}|(?:(?i:token|(?:\b|_)(?:auth|pwd))|[A-Z0-9]_(?:KEY|PASS|PAT|PW)){IS}{VALUE}",
        None, rf"{PLAIN}|[a-z_]\w{{0,2}}", END,
    ),
    Rule(
        "tokens by their name", "tokens", rf"(?i:tokens){IS}{VALUE}",
        3.0, rf"{PLAIN}|.{{0,11}}|\D*", END,
    ),
)  # fmt: skip


OPTION = r"(?:^|[\s\"'(\[,])--?[\w-]{0,60}"
GAP = r"(?:\s{1,5}|\\{0,7}[\"'],\s{0,5})"
OF_OPTION = rf"(?:{QUOTED}|([^-\s\"'\\][^\s\"']*))"
WITHIN = r"\s(?:[^\r\n|;]{0,200}?\s)?"  # further arguments between a command and an option

COMMANDS = (
    Rule(
        "setting of a command", "secret pass credential key token auth pwd pat _pw",
        r"\b(?:setenv|ENV|ARG|set(?:x|\s-\w{1,3}){0,3}|config(?:ure)?)"
        rf"(?:\s{{1,5}}set)?(?:\s{{1,5}}--?[\w-]{{1,30}}){{0,3}}\s{{1,5}}[\w./:@-]{{0,80}}?"
        rf"(?:{INNOCENT}|{NAME}[\w.-]{{0,40}}(?:\s{{1,5}}--?[\w-]{{1,20}})?\s{{1,5}}{SPACED})",
        None, UNSPACED,
    ),
    Rule(
        "key of a login", "login",
        r"\blogin(?:\s{1,5}--?[\w-]{1,30}(?:=\S{1,80})?){0,5}\s{1,5}[\"']?"
        r"([A-Za-z0-9_.-]{16,})", None, r"[A-Za-z]+(?:[_.-][a-z]+)*",
    ),
    Rule(
        "key of a call of login", "login",
        rf"\blogin\((?:[^()\r\n]{{0,80}}[,\s])?key\s{{0,3}}=\s{{0,3}}{VALUE}", None, PLACEHOLDER,
    ),
    Rule(
        "passphrase of openssl", "pass:", r"-pass(?:in|out)?[\s\"',]{1,6}pass:([^\s\"'\\]+)",
    ),
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
        rf"\b(?:sshpass|(?:az|buildah|docker|helm|oc|podman|skopeo)\s{{1,5}}(?:registry\s)?login){WITHIN}-p[\s=]{{0,5}}"
        r"[\"']?([^-\s\"'\\][^\s\"'\\]*)",
    ),
    Rule(
        "password of an archive", "zip 7z",
        rf"\b(?:(?:un)?zip{WITHIN}-P\s{{0,5}}|7z\w?{WITHIN}-p)[\"']?([^-\s\"'\\][^\s\"'\\]*)",
    ),
    Rule(
        "password of a share", "smbclient lftp",
        rf"\b(?:smbclient{WITHIN}(?:-U|--user)[\s=]{{0,5}}[\"']?[^\s%\"'\\]{{1,100}}%"
        rf"|lftp{WITHIN}-u\s{{0,5}}[\"']?[^\s,\"'\\]{{1,100}},)([^\s\"'\\]+)",
    ),
    Rule(
        "keys of mc", "alias", r"\bmc\s{1,5}alias\s{1,5}set"
        r"(?:\s{1,5}[^\s\"'\\]{1,200}){2}\s{1,5}([^\s\"'\\]{3,}\s{1,5}[^\s\"'\\]{8,})",
    ),
    Rule("token of vercel", "vercel", rf"\bvercel{WITHIN}-t[\s=]{{1,5}}[\"']?([^-\s\"'\\]\S*)"),
    Rule(
        "password of poetry", "http-basic",
        r"\bhttp-basic\.[\w.-]{1,80}\s{1,5}\S{1,100}\s{1,5}[\"']?([^-\s\"'\\][^\s\"'\\]*)",
    ),
    Rule(
        "password in a sentence", "pass secret token key",
        rf"{SECRET}[\w-]{{0,40}}\s(?:is|was|of\s\S{{1,40}}\sis)(?:\snow)?:?\s{{1,5}}{SPACED}",
        None, UNSPACED,
    ),
    Rule(
        "netrc", "password",
        r"(?i:\b(?:machine|login|account)(?:\s|\\n){1,5}\S{1,100}(?:\s|\\n){1,5}password"
        r"(?:\s|\\n){1,5})([^\s\"'\\]+)",
    ),
)  # fmt: skip
