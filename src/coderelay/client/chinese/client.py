"""What all places say where people type: asks, permissions, and the answers of the `/` commands."""

WORDS = {
    # asks
    "plan: {plan}": "计划：{plan}",
    "Is this plan approved?": "是否批准此计划？",
    "allowed, the turn goes on up to {until}; denied, it stops here": (
        "允许则本回合继续，最多到 {until}；拒绝则到此停止"
    ),
    "allow? y / n / a(lways) / s(top)": "允许吗？y 允许 / n 拒绝 / a 总是允许 / s 停止",
    "a number, ": "编号，",
    "several with commas, ": "多选用逗号分隔，",
    "your own words, deny or stop": "自己的话，deny 拒绝或 stop 停止",
    "smart / default / keep / s(top), or what to change": (
        "smart 批准并自动编辑 / default 批准 / keep 继续计划 / s 停止，或写明要修改什么"
    ),
    "allow? y / n": "允许吗？y 允许 / n 拒绝",
    "{text} is no answer": "{text} 不是可用的应答",
    "that is no answer": "这不是可用的应答",
    "and {count} lines more": "还有 {count} 行",
    "this session": "本会话",
    "today": "今天",
    "the budget of {limit} for {whose} is used up ({spent} spent)": "{whose}的预算 {limit} 已用完（已花费 {spent}）",
    "there are {asked} questions, and {given} answers were given": "共有 {asked} 个问题，但给出了 {given} 个回答",
    "{question} has no answer": "{question} 没有回答",
    "{tool} wants: {title}": "{tool} 请求：{title}",
    "({lines} lines, {bytes} bytes)": "（{lines} 行，{bytes} 字节）",
    "… {count} lines left out …": "…… 省略 {count} 行 ……",
    "… {count} characters left out …": "…… 省略 {count} 个字符 ……",
    "always: {tool}, whatever it is told": "总是允许：{tool}，无论参数为何",
    "always: {tool} on exactly this file, whatever it writes": "总是允许：{tool} 修改这个文件，无论写入什么",
    "always: {tool} on exactly these {count} files, whatever it writes": (
        "总是允许：{tool} 同时修改这 {count} 个文件，无论写入什么"
    ),
    "always: {tool} on exactly {paths}": "总是允许：{tool}，路径与 {paths} 完全相同",
    "always: {tool}, exactly {title}": "总是允许：{tool}，与 {title} 完全相同",
    "{command}, with any files here and harmless options": "{command}，可带此处任意文件和无害选项",
    "{command}, with harmless options": "{command}，可带无害选项",
    "always: {rule}": "总是允许：{rule}",
    "runs without a sandbox": "不在沙箱中运行",
    "runs in a sandbox ({sandbox})": "在沙箱中运行（{sandbox}）",
    "runs in the folder {folder}": "在文件夹 {folder} 中运行",
    "runs with the network": "可使用网络",
    "runs outside of any sandbox": "在沙箱之外运行",
    "with the network": "可使用网络",
    "outside of any sandbox": "在沙箱之外",
    "goes on running in the background": "在后台持续运行",
    ", ": "，",
    "whatever it is told": "无论参数为何",
    "everywhere": "所有目录",
    ", until {date}": "，有效期至 {date}",
    "exactly this text": "与此文本完全相同",
    "nobody was there to allow or answer it": "当时无人可以允许或应答",
    # permissions
    "mode: {mode}": "模式：{mode}",
    "preset: {preset}": "预设：{preset}",
    " (counts in mode default, not in {mode})": "（在 default 模式下生效，{mode} 模式下不生效）",
    "allow": "允许",
    "allow in the sandbox, else ask": "沙箱中允许，否则审批",
    "ask": "审批",
    "deny": "拒绝",
    "tools: {tools}": "工具：{tools}",
    "rules:": "规则：",
    "approved:": "已批准：",
    "skills: while one is in use that the agent chose, nobody is asked (skills.auto_approve is run)": (
        "技能：agent 自动触发的技能在使用期间免审批（skills.auto_approve 为 run）"
    ),
    "sandbox: {sandbox}": "沙箱：{sandbox}",
    "not known": "未知",
    ", not used in mode yolo": "，yolo 模式下不使用",
    # phases
    "idle": "空闲",
    "running": "运行中",
    "waiting": "等待审批",
    "done": "完成",
    "failed": "失败",
    "stopped": "已停止",
    "deleted": "已删除",
    # commands
    "runs since {time}": "自 {time} 起运行",
    "it is {usage}": "用法：{usage}",
    "/{name} without arguments says nothing": "/{name} 不带参数没有作用",
    "/{name} takes nothing more": "/{name} 不带其他参数",
    "written: {path}": "已写入：{path}",
    "{path} is there already; {again} replaces it": "{path} 已存在；{again} 可替换它",
    "{path} cannot be written: {why}": "{path} 无法写入：{why}",
    "added {folder}; undo covers {cwd} only": "已添加 {folder}；撤销只涵盖 {cwd}",
    "nothing has changed since the last commit": "自上次提交以来没有改动",
    "{path} has not changed since the last commit; changed are:": "{path} 自上次提交以来没有改动；有改动的是：",
    "there is no turn to undo": "没有可撤销的回合",
    "(the last turn is undone, and the conversation goes on before it)": "（已撤销上一回合，对话从它之前继续）",
    "turns that can be undone: {there}; /rewind shows them": "可撤销的回合数：{there}；/rewind 列出它们",
    "(undone: the last {many} turns, and the conversation goes on before them)": (
        "（已撤销最后 {many} 个回合，对话从它们之前继续）"
    ),
    "(undone: {done} of the last {many} turns; the one before cannot be:)": (
        "（已撤销最后 {many} 个回合中的 {done} 个；再往前的无法撤销：）"
    ),
    "/rewind N undoes the last N of them": "/rewind N 撤销其中最后 N 个回合",
    "restored  {path}": "已恢复  {path}",
    "removed   {path}": "已移除  {path}",
    "kept      {path}": "未改动  {path}",
    "(background command {number} is asked to stop)": "（已要求后台命令 {number} 停止）",
    "it is over, or was asked already": "它已结束，或已被要求停止",
    "no command was left running in the background": "没有在后台运行的命令",
    "there is no todo list": "没有 todo 列表",
    "{sent} tokens in{cached}, {came} out: {price}": "输入 {sent} tokens{cached}，输出 {came}：{price}",
    ", {tokens} of them cached": "（其中 {tokens} 来自缓存）",
    "price unknown": "价格未知",
    "the conversation fills {tokens} tokens of the model's window": "对话占用模型上下文窗口 {tokens} tokens",
    "model: {model}": "模型：{model}",
    "{model} is not among the models known here; it is taken as it is": "{model} 不在已知的模型之列；仍按原样使用",
    "{model} is not among the models known here, the nearest are {names}; it is taken as it is": (
        "{model} 不在已知的模型之列，最接近的是 {names}；仍按原样使用"
    ),
    "in use": "使用中",
    "/model N takes one of these, /model provider:name any other": (
        "/model N 选用其中之一，/model provider:name 选用其他模型"
    ),
    "${input} in, ${output} out": "输入 ${input}，输出 ${output}",
    "always there: follows fixed rules, needs no model": "始终可用：按固定规则工作，无需模型",
    "there is no model {number}; /model shows what there is": "没有模型 {number}；/model 列出可用的模型",
    "think: {level}": "思考：{level}",
    "there is no mode {name}; there are {names}": "没有模式 {name}；可用的有 {names}",
    "there is no level {name}; there are {names}": "没有级别 {name}；可用的有 {names}",
    "there is no preset {name}; there are {names}": "没有预设 {name}；可用的有 {names}",
    "new session {session} · {model} · {mode}": "新会话 {session} · {model} · {mode}",
    "/resume {session} goes back": "/resume {session} 返回原会话",
    "the turn goes on there; /resume {session} goes back": "原会话的回合仍在继续；/resume {session} 返回",
    "title: {title}": "标题：{title}",
    "/fork is not supported: sessions are linear": "不支持 /fork：会话是线性的",
    "/new begins another one, /rewind goes back in this one.": "/new 创建新会话，/rewind 在本会话中回退。",
    "there is no such session": "没有这样的会话",
    "session {session} · {model} · {mode} · {cwd}": "会话 {session} · {model} · {mode} · {cwd}",
    "this is that session": "当前就是这个会话",
    "(the newest {count}; /sessions TEXT finds others)": "（最新的 {count} 个；/sessions TEXT 可查找其他会话）",
    "/resume N goes on with one of these": "/resume N 继续其中之一",
    "last prompt: {prompt}": "最后的提示：{prompt}",
    "(a turn is open)": "（有未结束的回合）",
    "(it cannot go on here: {problem})": "（无法在此继续：{problem}）",
    "{name} is short for {count} sessions:": "{name} 可匹配 {count} 个会话：",
    "there is no session {name}": "没有会话 {name}",
    "there is no session {name}; the nearest are:": "没有会话 {name}；最接近的是：",
    "there is no session {number} in the list; /resume shows it": "列表中没有会话 {number}；/resume 显示列表",
    "/sessions shows what there is.": "/sessions 列出所有会话。",
    "(no prompt yet)": "（尚无提示）",
    "(the turn hears it at its next step)": "（回合将在下一步收到）",
    "(changed)": "（已修改）",
    "nothing to change, or its turn has begun already": "没有可修改的内容，或它的回合已经开始",
    "nothing is queued": "没有排队的提示",
    "(taken back)": "（已收回）",
    "its turn has begun already": "它的回合已经开始",
    "there is no prompt {number} in the queue; /queue shows what there is": (
        "队列中没有提示 {number}；/queue 列出队列"
    ),
    "(steers) ": "（插入当前回合）",
    "no MCP server is configured here; `coder mcp add` adds one": "这里没有配置 MCP 服务器；`coder mcp add` 可添加",
    "it is /mcp:SERVER:PROMPT or /mcp:SERVER:RESOURCE": "用法：/mcp:SERVER:PROMPT 或 /mcp:SERVER:RESOURCE",
    "/mcp shows what there is.": "/mcp 列出所有可用内容。",
    " and {count} more": "，还有 {count} 个",
    "tools: {names}": "工具：{names}",
    "{model}: {used} tokens, {how}": "{model}：{used} tokens，{how}",
    "this agent has no tools": "该 agent 没有工具",
    "read": "读取",
    "edit": "编辑",
    "command": "命令",
    "network": "网络",
    "mcp": "MCP",
    "question": "提问",
    "Ask the person something you cannot find out yourself.": "向用户询问自己无法查明的事情。",
    "Run a shell command in the workspace and return its output.": "在工作区中执行 shell 命令并返回输出。",
    "What a background command has written since you looked last, and whether it still runs.": (
        "查看后台命令自上次以来的输出，以及它是否仍在运行。"
    ),
    "End a background command and everything it started.": "停止后台命令及其启动的一切。",
    "Replace text in a file.": "替换文件中的文本。",
    "Find files by name, newest first: *.py is found in every folder, src/**/*.{ts,tsx} below src.": (
        "按名称查找文件，最新的在前：*.py 匹配所有目录，src/**/*.{ts,tsx} 匹配 src 之下。"
    ),
    "Search files for lines that match a regular expression ((?i) in front ignores case).": (
        "在文件中搜索匹配正则表达式的行（以 (?i) 开头则忽略大小写）。"
    ),
    "List a folder: its folders, and its files with their sizes.": "列出目录：其中的子目录，以及文件和大小。",
    "Change several files at once, all or none.": "一次改动多个文件，全部成功或全部不改。",
    "In plan mode, when the plan is complete: put it before the person for approval.": (
        "在 plan 模式下，计划完成后提交用户批准。"
    ),
    "Read a text file, a notebook or an image.": "读取文本文件、notebook 或图片。",
    "Load the instructions of one of the skills you were told of, before you begin the kind of work that it "
    "describes.": "开始某类工作之前，加载相应技能的说明。",
    "Let another agent do something in the same folder and get its answer: for searches and questions that take "
    "much reading, of which only the outcome matters to you.": (
        "让另一个 agent 在同一目录中执行任务并返回结果：用于需要大量阅读、只关心结论的搜索与问题。"
    ),
    "Keep the list of what is to be done, for work of three or more steps.": "维护待办列表，用于三步以上的工作。",
    "Fetch a page from the public web and return its text, HTML in a form like Markdown.": (
        "从公网获取页面并返回文本，HTML 转为类似 Markdown 的形式。"
    ),
    "Create a file, or replace one that you have read.": "创建文件，或替换已读过的文件。",
    "({text})": "（{text}）",
    " ({text})": "（{text}）",
    "added": "已新增",
    "modified": "已修改",
    "renamed": "已重命名",
    "binary": "二进制",
    "your own": "你自己的",
    "this folder's": "本目录的",
    ", only for /{name}": "，仅用于 /{name}",
    "as its provider counted; how they are shared out is a guess": "由模型提供方计数，各部分的分配为估算",
    "a guess": "估算",
    "{used} of {window}": "{used} / {window}",
    "there are no skills": "没有技能",
    "free": "剩余",
    "system prompt": "系统提示",
    "tools": "工具",
    "notes": "附注",
    "summary": "摘要",
    "prompts": "用户输入",
    "answers": "回答",
    "tool calls": "工具调用",
    "results": "工具结果",
    "images": "图片",
    "{name} is too big to send: {size}, at most {most}": "{name} 太大，无法发送：{size}，最多 {most}",
    "{name} is no image that can be sent (PNG, JPEG, GIF or WebP)": (
        "{name} 不是可发送的图片（PNG、JPEG、GIF 或 WebP）"
    ),
    "{name} cannot be read: {why}": "{name} 无法读取：{why}",
    "{name} is not a file": "{name} 不是文件",
    "(task {number} is asked to stop)": "（已要求任务 {number} 停止）",
    "it is over": "它已结束",
    "no task was given to another agent": "没有交给其他 agent 的任务",
    "there is no task {number}; /tasks shows what there is": "没有任务 {number}；/tasks 列出所有任务",
    "unknown command /{name}; did you mean {names}? /help shows what there is": (
        "未知命令 /{name}；是否想输入 {names}？/help 列出所有命令"
    ),
    "unknown command /{name}; /help shows what there is": "未知命令 /{name}；/help 列出所有命令",
    "the agent has no command {name}; it has {names}": "agent 没有命令 {name}；它有 {names}",
    "none": "无",
    " or ": " 或 ",
    "Commands of the agent": "agent 的命令",
    "Commands of your own and of this folder": "你自己的和本目录的命令",
    "Skills": "技能",
    "Prompt": "提示",
    # /status
    "{tokens} of {window} tokens ({share} %)": "{tokens} / {window} tokens（{share} %）",
    "{tokens} tokens": "{tokens} tokens",
    "{sent} tokens in, {came} out: {price}": "输入 {sent} tokens，输出 {came}：{price}",
    "session": "会话",
    "state": "状态",
    "agent": "agent",
    "model": "模型",
    "mode": "模式",
    "sandbox": "沙箱",
    "folder": "目录",
    "context": "上下文",
    "used": "已用",
    "queue": "队列",
    "open asks": "待审批",
    "background": "后台",
    "tasks": "任务",
    "run by": "运行于",
    "log": "日志",
    "version": "版本",
    "language": "语言",
    "English": "中文",
    "nobody": "无",
    "here": "本进程",
    "another process": "另一进程",
    "coder's own loop, with any model": "coder 自带的循环，可用任何模型",
    "a program that is installed here": "已安装在本机的程序",
    "waiting for a host": "等待可以运行它的主机",
    # /help
    "for example: {line}": "例如：{line}",
    "It only shows; nothing changes.": "仅显示，不作任何改动。",
    "Counts for the next tool call, also in a turn that runs; in this session only.": (
        "从下一次工具调用起生效，正在运行的回合也一样；仅限本会话。"
    ),
    "This session stays, and a turn that runs in it goes on.": "当前会话保留，其中正在运行的回合继续。",
    "The session stays; `coder resume` goes on with it.": "会话保留；`coder resume` 可继续。",
    "Counts at once, and is kept for later sessions in `.coder/config.json`; the one in use stays as it is.": (
        "立即生效，并写入 `.coder/config.json` 供后续会话沿用；选择使用中的模型则不作改动。"
    ),
    "A preset counts in this session; your own rules stay.": "预设在本会话中生效；你自己的规则不变。",
    "Counts for what is asked next, in this session only.": "从下一次请求起生效，仅限本会话。",
    "Becomes part of the running turn; without one it is a prompt like any other.": (
        "并入正在运行的回合；没有回合在运行时等同于普通提示。"
    ),
    "Changes only prompts whose turn has not begun.": "只改动尚未开始的提示。",
    "Asks the model. The log keeps everything; only what is sent from now on is shorter.": (
        "会请求模型。日志保留全部内容；只是之后发送的内容变短。"
    ),
    "Changes nothing but the title.": "只改动标题。",
    "Writes one file that only you can read; one that is there is replaced only if ! stands behind its name.": (
        "写入一个只有你能读取的文件；已存在的文件只有在名称后加 ! 时才会被替换。"
    ),
    "Counts in this session; /undo covers the session's own folder only.": (
        "在本会话中生效；/undo 只涵盖会话自己的目录。"
    ),
    "Puts back all files the turn changed, by its commands too; what you have changed since is kept and named.": (
        "恢复该回合改动的所有文件，包括其命令的改动；你之后改动过的文件会保留并列出。"
    ),
    "The same as /undo so many times, the latest turn first.": "等同于执行多次 /undo，从最近的回合开始。",
    "A prompt of a server is sent like one of your own; else it only shows.": (
        "服务器的提示会像你自己的提示一样发送；否则仅显示。"
    ),
    "`stop` ends the turn of that agent; else it only shows.": "`stop` 结束该 agent 的回合；否则仅显示。",
    "`stop` ends that command; else it only shows.": "`stop` 结束该命令；否则仅显示。",
    "Sends a prompt; what the agent writes then needs the same asking as ever.": (
        "发送一个提示；agent 之后的写入照常需要审批。"
    ),
    "Sends a prompt that tells the agent to change nothing.": "发送一个提示，要求 agent 不作任何改动。",
    "The model, and what needs no asking": "模型与权限",
    "The conversation": "对话",
    "Sessions": "会话",
    "Files": "文件",
    "What there is": "查看",
    "Work that is often asked for": "常用工作",
    "show the models there are, or change it; kept for later sessions in this folder": (
        "列出可用模型或切换模型；本目录后续会话沿用"
    ),
    "show or change what needs no asking": "查看或切换模式",
    "mode plan: look and propose, change nothing": "plan 模式：分析、拆解并给出方案，不作改动",
    "mode default: as the preset of /permissions says": "default 模式：按 /permissions 的预设执行",
    "mode auto-edit: edit without asking, and check the work": "auto-edit 模式：直接编辑，并验证结果",
    "mode yolo: as auto-edit, and any command without asking": "yolo 模式：在 auto-edit 基础上，命令全部放行",
    "show what needs no asking, or change what mode default means": "展示当前权限矩阵，或切换权限预设",
    "how hard the model thinks before it answers": "模型回答前的思考强度",
    "tell the running turn something; it hears it at its next step": "向正在运行的回合补充说明，下一步生效",
    "what waits for its turn; change or take one back": "排队中的提示；可修改或收回",
    "sum up the conversation so far, to make room": "强制执行一次上下文压缩，并显示摘要",
    "name the session; without a text, a small model finds one": "命名会话；不带文字则由小模型取名",
    "write the conversation to a file: Markdown, or JSON if it ends in .json": (
        "将对话写入文件：Markdown，若以 .json 结尾则为 JSON"
    ),
    "begin a session with an empty context; this one stays": "创建新会话，上下文为空；当前会话保留",
    "the same as /new": "同 /new",
    "go on with another session; without, those of this folder": "恢复其他会话；不带参数则列出本目录的会话",
    "all sessions, or those with these words; /resume N takes one": "所有会话，或含有这些文字的会话；/resume N 选择",
    "leave; the session stays": "离开；会话保留",
    "the same as /exit": "同 /exit",
    "not supported: sessions are linear": "不支持：会话是线性的",
    "let the tools use another folder too": "允许工具使用另一个目录",
    "what has changed since the last commit; whole, or in one file or folder": (
        "自上次提交以来的改动；可显示全部，或某个文件或目录的"
    ),
    "the files and the conversation as they were before the last turn; again: one more": (
        "撤销上一回合的文件改动和对话；再次执行则再撤销一个回合"
    ),
    "the turns that can be undone; or undo the last N of them": "列出可撤销的回合；或撤销最后 N 个",
    "this session, its model and folder, and where everything is": "本会话、其模型与目录，以及各项数据的位置",
    "which agents there are, and which other programs were found": "有哪些 agent，以及找到了哪些其他程序",
    "what the agent can do, of which kind, and what is disabled": "当前可用工具及其类别，以及被禁用的工具",
    "instructions that the agent can load, and those that do not count": "当前可用技能，以及未生效的技能",
    "MCP servers and what they have; or send a prompt of one": "MCP 服务器及其内容；或发送其中的提示",
    "what fills the model's window": "上下文窗口由什么占用",
    "the todo list of the session, which only the agent changes": "查看本会话的 todo 列表（只读）",
    "what other agents do for this session; or end one of them": "其他 agent 为本会话执行的任务；或停止其一",
    "commands in the background; or end one of them": "后台命令；或停止其一",
    "tokens and money of this session": "本会话的 tokens 与费用",
    "this, or more of one command": "显示此帮助，或某个命令的说明",
    "look at the project and write AGENTS.md, or improve the one there is": "查看项目并编写或改进 AGENTS.md",
    "review what has changed since the last commit, or in a range like main..HEAD": (
        "评审自上次提交以来的改动，或 main..HEAD 这样的范围"
    ),
}
