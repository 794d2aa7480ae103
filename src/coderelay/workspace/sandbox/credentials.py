"""Where people and programs keep what lets others act in their name: beneath home, and never shown to a command."""

import os
from collections.abc import Iterator
from glob import glob

_PLACES = """
.ssh .gnupg .pki .aws .azure .oci .kube .boto .s3cfg .netrc .authinfo .authinfo.gpg .git-credentials .password-store
.docker/config.json .docker/contexts .config/containers/auth.json .npmrc .yarnrc .yarnrc.yml .pypirc .pgpass .my.cnf
.cargo/credentials* .gem/credentials .bundle/config .m2/settings*.xml .gradle/gradle.properties
.terraform.d/credentials* .terraformrc .vault-token .fly .heroku .vercel .netlify .databrickscfg .snowsql .rclone.conf
.config/gcloud .config/gh .config/glab-cli .config/hub .config/git/credentials .config/op .config/rclone .config/doctl
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
.vscode-server/data/User/globalStorage .coder
.config/github-copilot .copilot .config/goose .local/share/goose .codeium .ollama/id_ed25519 .lmstudio/credentials
.Xauthority .ICEauthority .config/pulse/cookie .config/systemd .local/share/atuin
"""


def credential_places(home: str) -> Iterator[str]:
    """Those that are there, by their real names."""
    for place in _PLACES.split():
        full = os.path.join(home, place)
        for found in glob(full) if "*" in place else [full]:
            if os.path.lexists(found) and os.path.exists(real := os.path.realpath(found)):
                yield real
