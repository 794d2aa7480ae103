"""What `coder` and its subcommands say."""

WORDS = {
    # argparse
    "usage: ": "用法：",
    "positional arguments:\n": "参数：\n",
    "options:\n": "选项：\n",
    "show this help message and exit": "显示此帮助并退出",
    "show program's version number and exit": "显示版本号并退出",
    "{program}: error: {message}\n": "{program}：错误：{message}\n",
    # coder
    "A coding agent whose sessions survive anything and can be steered from anywhere.": (
        "编程 agent：会话不会丢失，并可在任何地方操控。"
    ),
    """\
commands:
  coder sessions [list|search TEXT|show ID|export ID|delete ID]
  coder resume [ID]     open a session again, without ID the newest here, and carry on what was cut off
  coder asks            everything that waits for a person
  coder answer ASK_ID allow|deny|stop|TEXT
  coder permissions [list|revoke ID|trust [DIR]|untrust [DIR]]
  coder mcp [list|add NAME -- COMMAND|remove NAME]   programs whose tools the agent may use
  coder model [list|install NAME|add PATH.gguf|remove NAME]   models that run on this machine
  coder doctor          what was found here, what is missing, what to do
  coder completions bash|zsh|fish   a script that completes all this in your shell

exit codes of -p: 0 done, 1 the turn failed, 2 usage, 3 something was denied because nobody could
answer, 4 step limit, 5 parked, 130 interrupted
""": """\
命令：
  coder sessions [list|search TEXT|show ID|export ID|delete ID]
  coder resume [ID]     重新打开会话（不带 ID 则为当前目录中最新的），并继续被中断的工作
  coder asks            所有等待人工处理的审批与提问
  coder answer ASK_ID allow|deny|stop|TEXT
  coder permissions [list|revoke ID|trust [DIR]|untrust [DIR]]
  coder mcp [list|add NAME -- COMMAND|remove NAME]   可供 agent 使用其工具的程序
  coder model [list|install NAME|add PATH.gguf|remove NAME]   在本机运行的模型
  coder doctor          这里找到了什么、缺少什么、该怎么做
  coder completions bash|zsh|fish   用于 shell 自动补全的脚本

-p 的退出码：0 完成，1 回合失败，2 用法错误，3 因无人应答而被拒绝，4 达到步数上限，5 已挂起，130 被中断
""",
    "the folder to work in (default: here)": "工作目录（默认：当前目录）",
    "one turn without a terminal; - reads stdin": "不使用终端，执行一个回合；- 表示从 stdin 读取",
    "go on with this session": "继续此会话",
    "go on with the newest session here": "继续当前目录中最新的会话",
    "only these tools may be used": "只允许使用这些工具",
    "what to do when something must be asked and nobody is there (default: deny)": (
        "需要审批而无人应答时怎么办（默认：deny）"
    ),
    "at most N model answers in a turn": "一个回合中模型最多应答 N 次",
    "the folder to work in": "工作目录",
    "--resume and --continue exclude each other": "--resume 与 --continue 不能同时使用",
    "give the folder once: PATH or --cwd": "目录只能指定一次：PATH 或 --cwd",
    "there is no folder {folder}": "目录 {folder} 不存在",
    "the folder's name is not UTF-8, which coder cannot work with": "目录名不是 UTF-8，coder 无法使用",
    "the prompt is empty": "提示内容为空",
    "must be at least 1": "必须不小于 1",
    ".coder/config.json of this folder wants {keys}, which is not in force; `coder permissions trust` shows it and "
    "puts it in force": (
        "本目录的 .coder/config.json 要求 {keys}，尚未生效；`coder permissions trust` 可查看并使其生效"
    ),
    "commands of an earlier process, which was killed, had changed what git obeys. It was put back as it was or "
    "moved aside (*.moved-*): {paths}": (
        "先前被强行终止的进程所运行的命令改动了 git 会执行的内容，现已恢复原状或移到一旁（*.moved-*）：{paths}"
    ),
    "there is no session in {folder} to continue": "{folder} 中没有可以继续的会话",
    "`coder` starts one.": "`coder` 可新建一个。",
    "`coder sessions` shows what there is.": "`coder sessions` 列出所有会话。",
    "session {session} cannot go on here: {problem}": "会话 {session} 无法在此继续：{problem}",
    "an earlier question is still open; the prompt is queued": "先前的提问尚未处理，提示已排队",
    "a question is open": "有尚未处理的提问或审批",
    "a question is open; the lines after it are not sent": "有尚未处理的提问或审批，其后的输入行未发送",
    "parked, {why}": "已挂起：{why}",
    "session {session}": "会话 {session}",
    # completions
    "`coder completions bash|zsh|fish`: a script that completes commands, options, sessions, models and servers.": (
        "`coder completions bash|zsh|fish`：输出用于补全命令、选项、会话、模型和 MCP 服务器的脚本。"
    ),
    "which shell it is for": "用于哪个 shell",
    # sessions, resume
    "`coder sessions`: list, search, show, export, delete and back up sessions.": (
        "`coder sessions`：列出、搜索、查看、导出、删除和备份会话。"
    ),
    "all of them, copied to a new file while they are in use": "全部会话，在使用中复制到新文件",
    "{file} holds the log with its {count} events": "{file} 已保存日志，共 {count} 个事件",
    "those with these words in title, last prompt, folder or id": "标题、最后的提示、目录或 ID 中含有这些文字的会话",
    "`coder resume [ID]`: open a session again, without ID the newest here, and carry on what was cut off.": (
        "`coder resume [ID]`：重新打开会话（不带 ID 则为当前目录中最新的），并继续被中断的工作。"
    ),
    "or the beginning of its id or title": "也可以是 ID 或标题的开头",
    "going on with {session}  {title}": "继续 {session}  {title}",
    "newest first": "最新的在前",
    "only those of this folder": "只列出当前目录的会话",
    "one object per line": "每行一个对象",
    "the conversation": "对话内容",
    "as JSON: model, tools and messages in the OpenAI form": "以 JSON 输出：模型、工具以及 OpenAI 格式的消息",
    "the session and everything in it; a running turn is stopped": "会话及其全部内容；正在运行的回合会被停止",
    "what its turns changed in the files": "它的各回合对文件的改动",
    "its turns changed no files that are known": "它的各回合没有已知的文件改动",
    "deleted {session}": "已删除 {session}",
    "failed: {problem}": "失败：{problem}",
    "works for": "隶属于",
    "task": "任务",
    # asks, answer
    "`coder asks`: everything that waits for a person, in all sessions.": (
        "`coder asks`：所有会话中等待人工处理的审批与提问。"
    ),
    "{title}, for {parent}": "{title}，隶属于 {parent}",
    """\
`coder answer ASK_ID allow|deny|stop|TEXT`: decide something from anywhere.

The id may be shortened as long as it is clear. A permission: allow, session, project, person, deny, stop. A
question: a number, a label or your own words, one for each question; deny, stop. A plan: smart, default, keep,
or what to change; stop.

Whoever has the session open goes on with it. If nobody has, this command does, and shows the answer.
""": """\
`coder answer ASK_ID allow|deny|stop|TEXT`：在任何地方作出决定。

ID 只要不产生歧义即可缩写。权限审批：allow、session、project、person、deny、stop。
提问：编号、选项名或自己的话，每个问题一个；deny、stop。
计划：smart、default、keep，或者写明要修改什么；stop。

由已打开该会话的进程继续执行；若没有，则由本命令继续并显示结果。
""",
    "answer and leave; whoever opens the session goes on": "应答后立即退出；由之后打开会话者继续",
    "answered: {ask}": "已应答：{ask}",
    "waiting for a host: {reason}": "等待可以运行它的主机：{reason}",
    "carrying on: {title}": "继续执行：{title}",
    "too late: its turn has ended": "已太迟：所属回合已经结束",
    "too late: answered by {by}: {word}": "已太迟：{by} 已应答：{word}",
    "waits for an answer: {id}  {ask}": "等待应答：{id}  {ask}",
    # permissions
    "`coder permissions`: what need not be asked again, and taking it back.": (
        "`coder permissions`：查看和收回无需再次审批的权限。"
    ),
    "those given in one session too": "同时列出在某个会话中给予的权限",
    "what was approved for a folder or for good": "已对某个目录或长期批准的内容",
    "ask again": "收回，以后重新审批",
    "let a folder's .coder/config.json loosen what it wants to, and use its skills and commands": (
        "允许目录的 .coder/config.json 放宽它所要求的限制，并使用其中的技能和命令"
    ),
    "do not ask": "不再确认",
    "no longer trust it": "不再信任该目录",
    "say whether a command may run, and why; runs nothing": "说明命令能否执行及原因；不会执行任何命令",
    'one {"command": …, "mode": …} per line, one verdict each': '每行一个 {"command": …, "mode": …}，各得一个结论',
    "revoked {tool}: {title}": "已收回 {tool}：{title}",
    "give a COMMAND or --stdin": "请给出 COMMAND 或 --stdin",
    "there is nothing to trust: {folder} loosens nothing": "没有需要信任的内容：{folder} 没有放宽任何限制",
    "{folder} is trusted already": "{folder} 已受信任",
    "a command that an agent runs cannot trust a folder": "由 agent 运行的命令不能信任目录",
    "changed": "有改动",
    "new": "新增",
    "trusted {folder}": "已信任 {folder}",
    "{file} wants:": "{file} 要求：",
    "{folder} has skills and commands that tell an agent what to do; read them first:": (
        "{folder} 含有会指示 agent 的技能和命令，请先阅读："
    ),
    "nobody is here to be asked": "无人可以确认",
    "Give --yes to trust it.": "如要信任，请加 --yes。",
    "Commands and rules there then count as your own. Trust it? [y/N] ": (
        "其中的命令和规则将等同于你自己的。要信任吗？[y/N] "
    ),
    "{folder} is no longer trusted": "{folder} 不再受信任",
    "{folder} is not trusted": "{folder} 未受信任",
    # mcp
    "`coder mcp`: programs whose tools the agent may use (Model Context Protocol).": (
        "`coder mcp`：可供 agent 使用其工具的程序（Model Context Protocol）。"
    ),
    "which there are, whether they answer, and how many tools they have": "有哪些服务器、是否应答、有多少工具",
    "add one to your own configuration": "在自己的配置中添加一个",
    "where it listens, if it is not to be started": "若无需启动，它的监听地址",
    "without a value: the one it has in your shell": "不给出值：使用 shell 中的值",
    "${NAME} in it is that variable": "其中的 ${NAME} 表示该环境变量",
    "take one out of your own configuration": "从自己的配置中移除一个",
    "give either -- COMMAND or --url URL": "请给出 -- COMMAND 或 --url URL 其中之一",
    "--env is for a COMMAND, --header for a URL": "--env 用于 COMMAND，--header 用于 URL",
    "only `add` takes a command": "只有 `add` 可以带命令",
    "a command that an agent runs cannot add an MCP server": "由 agent 运行的命令不能添加 MCP 服务器",
    "a command that an agent runs cannot remove an MCP server": "由 agent 运行的命令不能移除 MCP 服务器",
    "added {name} to {file}; `coder mcp list` tries it": "已将 {name} 添加到 {file}；`coder mcp list` 可试运行",
    "{text} is not a header like {example}": "{text} 不是形如 {example} 的请求头",
    "removed {name}": "已移除 {name}",
    "no MCP server is configured here; `coder mcp add NAME -- COMMAND` adds one": (
        "这里没有配置 MCP 服务器；`coder mcp add NAME -- COMMAND` 可添加"
    ),
    "this folder wants {names} too; `coder permissions trust` shows it and puts it in force": (
        "本目录还要求 {names}；`coder permissions trust` 可查看并使其生效"
    ),
    # model
    "`coder model`: the models there are, and those that run on this machine.": (
        "`coder model`：可用的模型，以及在本机运行的模型。"
    ),
    "what is installed, what can be, and whose keys are set": "已安装的、可安装的，以及已设置密钥的",
    "download a small model that runs on this machine": "下载一个在本机运行的小模型",
    "use a GGUF file that is here already": "使用已有的 GGUF 文件",
    "copy it; without, it is used where it is": "复制一份；不加则在原处使用",
    "forget a model, and remove its file if it was installed here": "移除模型；若由这里安装，同时删除文件",
    "installed here": "已安装在本机",
    "nothing; see below": "无；见下",
    "nothing more": "没有更多",
    "key in {variable}": "密钥在 {variable}",
    "elsewhere, with a key": "其他位置，已有密钥",
    "no key is set": "没有设置密钥",
    "from {source}": "来自 {source}",
    "its file is gone: {path}": "文件已不存在：{path}",
    "{name} is installed already; use it with: coder --model {name}": "{name} 已安装；使用：coder --model {name}",
    "stopped; what was downloaded is kept, and the next install goes on from there": (
        "已停止；已下载的部分会保留，下次安装从此处继续"
    ),
    "installed {name}; use it with: coder --model {name}": "已安装 {name}；使用：coder --model {name}",
    "added {name}; use it with: coder --model {name}": "已添加 {name}；使用：coder --model {name}",
    "{size} to download in {parts} parts by pip; licence {licence}. It runs on this machine, slowly, and can do "
    "small tasks only.": (
        "需通过 pip 分 {parts} 部分下载 {size}；许可证 {licence}。它在本机运行，速度较慢，只适合小任务。"
    ),
    "nobody is here to say yes; give --yes": "无人可以确认；请加 --yes",
    "Install it? [y/N] ": "要安装吗？[y/N] ",
    "{size} of {whole}, part {part} of {parts}": "{size} / {whole}，第 {part} 部分，共 {parts} 部分",
    ", {rate} MB/s, {time} left": "，{rate} MB/s，剩余 {time}",
    "there is a local model {name} already": "已有本地模型 {name}",
    "Give another --name, or remove that one first.": "请另取 --name，或先移除它。",
    # doctor
    "`coder doctor`: what was found here, what is missing, what to do.": (
        "`coder doctor`：这里找到了什么、缺少什么、该怎么做。"
    ),
    "one JSON object instead of lines": "输出一个 JSON 对象，而不是文本行",
    # a prompt whose process cannot go on
    "The prompt was taken back before anything was done. It can be sent again.": (
        "提示已在执行任何操作之前撤回，可以重新发送。"
    ),
    "The prompt waits in session {session} and has not begun. `coder resume {session}` carries it on, "
    "`coder sessions delete {session}` drops it.": (
        "提示在会话 {session} 中等待，尚未开始。`coder resume {session}` 继续执行，"
        "`coder sessions delete {session}` 将其丢弃。"
    ),
    "The turn had begun and may have changed files; session {session} holds what is known of it. "
    "`coder resume {session}` carries it on; the prompt sent once more could do things twice.": (
        "本轮已经开始，可能已改动文件；已知的内容保存在会话 {session} 中。`coder resume {session}` 继续执行；"
        "再次发送该提示可能会重复执行。"
    ),
    "Whether the prompt was saved is not known; `coder sessions show {session}` tells.": (
        "不确定提示是否已保存；可用 `coder sessions show {session}` 查看。"
    ),
    # folders
    "the current folder is gone; go to another one first": "当前目录已不存在；请先切换到其他目录",
    "This is the root of the file system: an agent here can read and change all files that you can.": (
        "这里是文件系统的根目录：在这里 agent 可以读取和修改你能访问的所有文件。"
    ),
    "This is your home folder: an agent here can read and change everything below it.": (
        "这里是你的主目录：在这里 agent 可以读取和修改其中的一切。"
    ),
    "Go to the folder of your project, or agree once with `coder permissions trust {folder}`, or for this "
    "time with `--cwd {folder}`.": (
        "请切换到项目所在的目录；或用 `coder permissions trust {folder}` 同意一次，或仅在本次使用 `--cwd {folder}`。"
    ),
    "Work here all the same? You are asked only once. [y/N] ": "仍要在这里工作吗？只会询问一次。[y/N] ",
    "not begun": "没有开始",
    "Go to the folder of your project.": "请切换到项目所在的目录。",
}
