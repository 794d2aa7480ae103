"""The table of programs that only read and print (grep, ls, cat …).

Options that write, run or change something are left out.
"""

from coderelay.policy.shell.programs.harmless_option_check import Options
from coderelay.policy.shell.programs.program_spec import Program

# Left out: --check, which reads whatever files a list names.
_SUMS = Program(Options(short="btz", long=("--tag", "--binary", "--text")), only_names=True)
_CODED = Program(Options(short="di", texts="w", long=("--decode", "--ignore-garbage", "--wrap=")))

_GREP_OPTIONS = Options(
    short="abcEFGHhiIlLnoPqrRsTUvwxyzZ",
    texts="ABCedDm",
    files="f",
    long=("--after-context=", "--before-context=", "--context=", "--color=?", "--colour=?", "--count",
          "--exclude=", "--exclude-dir=", "--extended-regexp", "--files-with-matches", "--files-without-match",
          "--fixed-strings", "--ignore-case", "--include=", "--invert-match", "--line-number", "--line-regexp",
          "--max-count=", "--no-filename", "--no-messages", "--null", "--only-matching", "--perl-regexp",
          "--quiet", "--recursive", "--regexp=", "--silent", "--text", "--with-filename", "--word-regexp",
          "--file=/", "--binary-files=", "--basic-regexp", "--byte-offset", "--dereference-recursive"),
    text_operands=1,
    instead=("-e", "-f", "--regexp", "--file"),
    numbers=True,
    any_option=True,
    option_opens=True,
)  # fmt: skip
# Left out: --pre and --hostname-bin run a program, -z runs decompressors.
_RG_OPTIONS = Options(
    short="abcFHhiIlLNnopPqsSuUvwx0.",
    texts="ABCegjmMrtTEd",
    files="f",
    long=("--after-context=", "--before-context=", "--case-sensitive", "--color=", "--column", "--context=",
          "--count", "--count-matches", "--files", "--files-with-matches", "--files-without-match",
          "--fixed-strings", "--follow", "--glob=", "--iglob=", "--heading", "--hidden", "--ignore-case",
          "--invert-match", "--json", "--line-number", "--line-regexp", "--max-columns=", "--max-count=",
          "--max-depth=", "--multiline", "--multiline-dotall", "--no-config", "--no-filename", "--no-heading",
          "--no-ignore", "--no-ignore-vcs", "--no-line-number", "--no-messages", "--null", "--only-matching",
          "--passthru", "--pcre2", "--pretty", "--quiet", "--regexp=", "--replace=", "--smart-case", "--sort=",
          "--sortr=", "--stats", "--text", "--trim", "--type=", "--type-not=", "--type-list", "--unrestricted",
          "--version", "--vimgrep", "--with-filename", "--word-regexp", "--file=/", "--threads="),
    text_operands=1,
    instead=("-e", "-f", "--regexp", "--file", "--files", "--type-list"),
)  # fmt: skip
_GREP = Program(_GREP_OPTIONS, searches=True, whole="recursive")

FILE_READERS: dict[str, Program] = {
    **dict.fromkeys(("grep", "egrep", "fgrep"), _GREP),
    "rg": Program(_RG_OPTIONS, version=("--version",), searches=True, whole="always"),
    "ls": Program(Options(short="aAbBcCdfFghHiklLmnNopqQrRsStuUvxXZ1", texts="ITw", long=("--all", "--almost-all",
        "--color=?", "--directory", "--group-directories-first", "--full-time", "--human-readable", "--recursive",
        "--reverse", "--size", "--sort=", "--time=", "--time-style=", "--ignore=", "--classify=?", "--inode",
        "--no-group", "--si"), any_option=True), only_names=True, whole="names"),
    "cat": Program(Options(short="AbeEnstTuv", long=("--number", "--number-nonblank", "--show-all", "--show-ends",
        "--show-tabs", "--squeeze-blank"), any_option=True)),
    "head": Program(Options(short="qvz", texts="nc", long=("--lines=", "--bytes=", "--quiet", "--verbose"),
        numbers=True, any_option=True)),
    "tail": Program(Options(short="qvzfF", texts="ncs", long=("--lines=", "--bytes=", "--quiet", "--verbose",
        "--follow=?"), numbers=True, any_option=True)),
    "wc": Program(Options(short="clLmw", long=("--lines", "--words", "--bytes", "--chars", "--max-line-length"),
        any_option=True, option_opens=True), only_names=True),
    "nl": Program(Options(short="p", texts="bdfhilnsvw")),
    "tac": Program(Options(short="br", texts="s")),
    "rev": Program(Options()),
    "cut": Program(Options(short="nsz", texts="bcdf", long=("--bytes=", "--characters=", "--delimiter=", "--fields=",
        "--complement", "--only-delimited", "--output-delimiter="))),
    "tr": Program(Options(short="cCdst", long=("--complement", "--delete", "--squeeze-repeats", "--truncate-set1"),
        text_operands=2)),
    "sort": Program(Options(short="bcCdfghiMmnrRsuVz", texts="kt", long=("--key=", "--field-separator=",
        "--numeric-sort", "--reverse", "--unique", "--human-numeric-sort", "--version-sort", "--ignore-case",
        "--stable", "--general-numeric-sort"))),
    "uniq": Program(Options(short="cdDiuz", texts="fsw", long=("--count", "--repeated", "--unique", "--ignore-case",
        "--skip-fields=", "--skip-chars="), most_operands=1, operands_last=True)),
    "comm": Program(Options(short="123z", long=("--nocheck-order", "--check-order", "--total"))),
    "diff": Program(Options(short="abBcdeEiNpqrstTuwy", texts="CUWx", long=("--brief", "--unified=?", "--recursive",
        "--side-by-side", "--ignore-all-space", "--ignore-case", "--ignore-space-change", "--ignore-blank-lines",
        "--color=?", "--exclude=", "--new-file", "--stat", "--suppress-common-lines", "--text", "--width=",
        "--report-identical-files")), whole="recursive"),
    "cmp": Program(Options(short="bls", texts="n")),
    "paste": Program(Options(short="sz", texts="d")),
    "join": Program(Options(short="iz", texts="12aejtov")),
    "fold": Program(Options(short="bs", texts="w")),
    "fmt": Program(Options(short="cstu", texts="wp")),
    "expand": Program(Options(short="i", texts="t")),
    "column": Program(Options(short="txe", texts="sNoc")),
    # -L, -I and -P take the next word as their value, whatever letters are joined to them.
    "tree": Program(Options(short="adfilpsughDFrtUvACnNqQ", long=("--gitignore", "--dirsfirst", "--noreport", "--du",
        "--prune", "--filelimit=?", "--charset=?"), single_dash=("-L", "-I", "-P")), only_names=True, whole="names"),
    "stat": Program(Options(short="Lft", texts="c", long=("--format=", "--printf=?", "--dereference",
        "--file-system")), only_names=True),
    "file": Program(Options(short="bhiLN", long=("--brief", "--mime", "--mime-type", "--mime-encoding",
        "--dereference")), only_names=True),
    "du": Program(Options(short="abchHkLmPsSx0", texts="dBt", long=("--max-depth=", "--human-readable",
        "--summarize", "--all", "--total", "--exclude=?", "--apparent-size", "--threshold="), any_option=True,
        option_opens=True), only_names=True),
    "basename": Program(Options(short="az", texts="s", long=("--multiple", "--suffix="), text_operands=99),
        only_names=True),
    "dirname": Program(Options(short="z", text_operands=99), only_names=True),
    "realpath": Program(Options(short="emLPqsz", long=("--relative-to=/", "--relative-base=/",
        "--canonicalize-existing")), only_names=True),
    "readlink": Program(Options(short="efmnqsvz", long=("--canonicalize",)), only_names=True),
    **dict.fromkeys(("md5sum", "sha1sum", "sha256sum", "sha512sum"), _SUMS),
    "cksum": Program(Options(), only_names=True),
    "od": Program(Options(short="abcdfiloxv", texts="AjNt")),
    # The letters of its options cannot be joined.
    "xxd": Program(Options(texts="cgls", most_operands=1, operands_last=True, single_dash=("-b", "-u", "-e", "-i",
        "-p"))),
    "hexdump": Program(Options(short="bcCdovx", texts="ns")),
    "strings": Program(Options(short="afo", texts="net", at_files=True)),
    "nm": Program(Options(short="ABCDgnpruS", at_files=True)),
    "size": Program(Options(short="ABdt", at_files=True)),
    "readelf": Program(Options(short="aehlSsrdVWnuAI", at_files=True)),
    # Left out: -S and -l, which open the files that an object file names.
    "objdump": Program(Options(short="dDhftTxprsCw", texts="jM", long=("--no-show-raw-insn", "--disassemble=?"),
        at_files=True)),
    **dict.fromkeys(("base64", "base32"), _CODED),
    "zcat": Program(Options()),
}  # fmt: skip
