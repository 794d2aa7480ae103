"""The table of files and folders that hold credentials, and functions that test paths and commands against it.

The file tools and the shell ask before they read such a file, even inside the workspace. The sandbox hides the places
of the table that are beneath the home folder from every command.
"""

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import cache, lru_cache

# These hold secrets in whatever folder they are found. A folder stands for everything in it.
_ANYWHERE = """
.ssh .aws .gnupg .kube .coder .netrc .npmrc .pypirc .pgpass .git-credentials .vault-token .docker/config.json
.config/gcloud id_rsa id_dsa id_ecdsa id_ed25519 etc/shadow
"""
# These hold secrets beneath the home folder only. Elsewhere they may be part of a project.
_BENEATH_HOME = """
.pki .azure .oci .boto .s3cfg .authinfo .authinfo.gpg .password-store
.docker/contexts .config/containers/auth.json .yarnrc .yarnrc.yml .my.cnf
.cargo/credentials* .gem/credentials .bundle/config .m2/settings*.xml .gradle/gradle.properties
.terraform.d/credentials* .terraformrc .fly .heroku .vercel .netlify .databrickscfg .snowsql .rclone.conf
.config/gh .config/glab-cli .config/hub .config/git/credentials .config/op .config/rclone .config/doctl
.config/pip/pip.conf .pip/pip.conf .condarc .composer/auth.json .config/composer/auth.json .nuget/NuGet/NuGet.Config
.subversion/auth .sentryclirc .supabase .wrangler .mc/config.json .config/helm .var/app snap/chromium
.config/configstore .config/pypoetry/auth.toml .config/uv/credentials
.config/sops .config/age .config/fly .config/netlify .local/share/com.vercel.cli .config/stripe .config/ngrok
.cache/huggingface/token .huggingface/token .kaggle .wakatime.cfg .electrum .bitcoin .ethereum .config/solana
.local/share/keyrings .kde/share/apps/kwallet .local/share/kwalletd .config/1Password .config/Bitwarden*
.config/keybase .mozilla .config/google-chrome* .config/chromium .config/BraveSoftware .config/microsoft-edge*
.config/vivaldi .config/opera .thunderbird .config/Slack .config/discord .config/Signal
.local/share/TelegramDesktop snap/firefox
.bash_history .zsh_history .zhistory .local/share/fish/fish_history .python_history .node_repl_history .lesshst
.psql_history .mysql_history .sqlite_history .rediscli_history .viminfo .local/share/recently-used.xbel
.claude .claude.json* .config/claude .codex .gemini .qwen .iflow .kimi .config/kimi .config/opencode
.local/share/opencode .aider* .continue .cursor .config/Cursor .config/Code/User/globalStorage
.vscode-server/data/User/globalStorage
.config/github-copilot .copilot .config/goose .local/share/goose .codeium .ollama/id_ed25519 .lmstudio/credentials
.Xauthority .ICEauthority .config/pulse/cookie .config/systemd .local/share/atuin
"""
# Matches `.env` and `.env.production.local`, but not templates such as `.env.example` and `.env.local.sample`.
_TEMPLATES = "example|sample|template|dist|tmpl|tpl|defaults?"
_ENV = rf"\.env(?![\w.-]*[._-](?:{_TEMPLATES})(?![\w.-]))(?:[._-][\w.-]*)?"
_NAMES = "|".join([*map(re.escape, _ANYWHERE.split()), _ENV, r"proc/[^/\s]+/environ"])
# Editors keep `.env~` and `#.env#` beside `.env`.
_BEFORE, _BEHIND = "#?", "~?"
# Where a name ends: `.env:bak` and `.env, x` name `.env`, but `.envrc` does not. A glob is tested on its own.
_END = r"(?![\w.*?\[-])"
# An option that excludes files does not read them.
_LEAVES_OUT = ("--exclude=", "--exclude-dir=")
_LEFT_OUT = r"(?<=\s)--exclude(?:-dir)?=[\w.*'\"-]+(?=\s|$)"
# Typical names of secret files, to test shell globs against.
_EXAMPLES = (
    *dict.fromkeys(place.split("/")[0] for place in _ANYWHERE.split() if place[0] == "." or place.startswith("id_")),
    *(".env", ".env.local", ".env.production", ".env.production.local", ".env.development.local", ".env.test"),
    *(".env~", ".env.local~"),
)


def find_secret(path: str, folders: tuple[str, ...], home: str) -> str | None:
    """The part of an absolute path that names a secret file or folder, or None. Of a path inside the session's
    `folders` only the part below them counts, since the folders themselves may be called anything; but a path beneath
    home is also compared with the places there."""
    return secret_place(_below(path, folders)) or secret_beneath_home(path, home, folders)


def secret_place(path: str) -> str | None:
    """The part of a path that names a secret in whatever folder it is, or None."""
    found = _in_path().search(path)
    return None if found is None else found.group().strip("/")


def secret_beneath_home(path: str, home: str, folders: tuple[str, ...] = (), *, glob: bool = False) -> str | None:
    """The place of the table that this absolute path beneath home falls under, or None. With `glob`, the path may
    hold the shell wildcards `*` and `?`. A session that works inside such a place (one of its `folders` is there) may
    read it."""
    start = f"{home.rstrip('/')}/"
    if not home or not path.startswith(start):
        return None
    found = _at_home().match(path, len(start))
    place = found.group() if found else _first_that_may_be(path[len(start) :]) if glob else None
    if place is None or any(f"{folder}/".startswith(f"{start}{place}/") for folder in folders):
        return None
    return place


@lru_cache(maxsize=8)
def may_reach_home(folders: tuple[str, ...], home: str) -> bool:
    """Whether a path inside these folders could be a place of the table beneath home. Most projects hold none."""
    if not home:
        return False
    start = f"{home.rstrip('/')}/"
    inner = [f"{folder[len(start) :]}/".lower() for folder in folders if folder.startswith(start)]
    places = [place.lower() for place in places_at_home()]
    return any(start.startswith(f"{folder.rstrip('/')}/") for folder in folders) or any(
        place.startswith(folder) for folder in inner for place in places
    )


def may_name_secret(path: str) -> bool:
    """Whether a path may name a secret, by the names in it. A quick filter for walks through many files."""
    return _suspect().search(path) is not None


def is_often_shared(place: str) -> bool:
    """Whether projects often commit this place, so that everybody with the repository can read it anyway."""
    return place.lower() in (".npmrc", ".coder")


def secret_word(text: str, *, glob: bool) -> str | None:
    """The part of a command's word that names a secret file, or that is a glob which could match one. As in the
    shell, a glob matches a leading dot only if it begins with a dot. A glob of nothing but `*` asks for no file in
    particular and is ignored."""
    if is_left_out(text):
        return None
    parts = re.split(r"[=:@,]", text)
    if found := next((place for part in parts if (place := secret_place(part))), None):
        return found
    names = [name for part in parts for name in part.lower().split("/") if glob and set("*?") & set(name)]
    return next((name for name in names if name.strip("*") and any(_may_be(name, each) for each in _EXAMPLES)), None)


def is_left_out(text: str) -> bool:
    """Whether a command's word is an option that leaves a file out."""
    return text.startswith(_LEAVES_OUT)


def secret_in_text(text: str) -> str | None:
    """The first secret file or folder that is named anywhere in a text of any kind, or None."""
    found = _in_text().search(re.sub(_LEFT_OUT, " ", text))
    return None if found is None else found.group()


def places_at_home() -> Iterator[str]:
    """All entries of the table that can be beneath the home folder, as paths relative to it. They may contain `*`."""
    yield from (place for place in _ANYWHERE.split() if place[0] == ".")
    yield from _BENEATH_HOME.split()


def _below(path: str, folders: tuple[str, ...]) -> str:
    """The rest of a path below the innermost of these folders."""
    return path[max((len(each) for each in folders if path.startswith(f"{each.rstrip('/')}/")), default=0) :]


def _first_that_may_be(pattern: str) -> str | None:
    """The first place beneath home that a glob could expand to, or to something in it."""
    parts = pattern.lower().split("/")
    for place in places_at_home():
        names = place.lower().split("/")
        if len(names) <= len(parts) and all(map(_is_meant, parts, names)):
            return place
    return None


def _is_meant(part: str, name: str) -> bool:
    """Whether one part of a glob asks for one part of a place. A part of nothing but `*` asks for no file in
    particular."""
    return fnmatchcase(part, name) or (bool(part.strip("*")) and _may_be(part, name.replace("*", "")))


def _may_be(pattern: str, name: str) -> bool:
    begin = re.split(r"[*?]", pattern, maxsplit=1)[0]
    return (pattern[0] == ".") == (name[0] == ".") and name.startswith(begin) and fnmatchcase(name, pattern)


@cache  # compiled on first use, so that the first prompt does not wait for these patterns
def _in_path() -> re.Pattern[str]:
    return re.compile(rf"(?:^|/){_BEFORE}(?:{_NAMES}){_BEHIND}{_END}", re.IGNORECASE)


@cache
def _in_text() -> re.Pattern[str]:
    return re.compile(rf"(?:^|(?<=[\s/'\"=:@~])){_BEFORE}(?:{_NAMES}){_BEHIND}{_END}", re.IGNORECASE)


@cache
def _at_home() -> re.Pattern[str]:
    return re.compile(rf"{_BEFORE}(?:{'|'.join(map(_regex, places_at_home()))}){_BEHIND}{_END}", re.IGNORECASE)


@cache
def _suspect() -> re.Pattern[str]:
    names = {place.rpartition("/")[2] for place in (*_ANYWHERE.split(), *_BENEATH_HOME.split())} | {"environ"}
    return re.compile(
        rf"(?:^|/)(?:[.#]|id_|(?:{'|'.join(map(_regex, sorted(names)))}){_BEHIND}{_END})", re.IGNORECASE
    )


def _regex(place: str) -> str:
    return re.escape(place).replace(r"\*", "[^/]*")
