"""What is only said where people are: at the terminal, in its plain form and as the REPL."""

WORDS = {
    # the plain loop
    "Enter sends the line, and so does Ctrl+D; on an empty line Ctrl+D leaves, and the session stays.\n"
    "While a turn runs, what you send is queued behind it. Ctrl+C stops the turn, in the middle of an answer too.\n"
    "!COMMAND runs a command of your own, without the agent.": (
        "Enter 发送该行，Ctrl+D 亦可；在空行上按 Ctrl+D 离开，会话保留。\n"
        "回合运行时，发送的内容会排队。Ctrl+C 中断回合，流式输出中也可以。\n"
        "!COMMAND 直接执行你自己的命令，不经过 agent。"
    ),
    "(answered in {via} by {who})": "（{who} 已在 {via} 中应答）",
    "[task: {title}] ": "[任务：{title}] ",
    "(carrying on what was cut off)": "（继续被中断的工作）",
    "(queued)": "（已排队）",
    "({count} queued; they go on with the next line you send)": "（{count} 个在排队；发送下一行后继续）",
    "(left out: a turn is running)": "（已忽略：有回合正在运行）",
    "(no longer asked)": "（已无需审批）",
    "(the last turn was undone in {via} by {who})": "（{who} 已在 {via} 中撤销上一回合）",
    "(going on: {reason})": "（继续：{reason}）",
    "(background command {id} {how})": "（后台命令 {id} {how}）",
    "exit code {code}": "退出码 {code}",
    "(summed up)": "（上下文已压缩）",
    # the REPL
    "y allow · n deny · a always · s stop": "y 允许 · n 拒绝 · a 总是允许 · s 停止",
    "y allow · n deny": "y 允许 · n 拒绝",
    "1 approve, edit freely · 2 approve · 3 keep planning · s + Enter stops · or type what to change": (
        "1 批准并自动编辑 · 2 批准 · 3 继续计划 · s + Enter 停止 · 或输入要修改的内容"
    ),
    "coder is done: {name}": "coder 已完成：{name}",
    "coder asks: {name}": "coder 等待审批：{name}",
    "no files changed": "没有文件改动",
    "${input} in, ${output} out per million": "每百万 tokens 输入 ${input}，输出 ${output}",
    "Models": "模型",
    "Sessions here": "本目录的会话",
    "Go back before": "回退到此之前",
    "summing up the conversation …": "正在压缩上下文 ……",
    "the last turn was undone in {via} by {who}": "{who} 已在 {via} 中撤销上一回合",
    "stopped in {via} by {who}": "{who} 已在 {via} 中停止",
    "going on: {reason}": "继续：{reason}",
    "background command {id} {end}": "后台命令 {id} {end}",
    "the session was deleted": "会话已被删除",
    "the conversation was summed up": "上下文已压缩",
    "there was nothing to sum up": "没有可压缩的内容",
    "↑ ↓ choose · Enter takes it · Esc leaves · typing narrows it down": (
        "↑ ↓ 选择 · Enter 确定 · Esc 离开 · 输入以筛选"
    ),
    "{number} in the background": "后台 {number} 个",
    "Esc stops": "Esc 停止",
    "… and {number} more; /queue shows all": "…… 还有 {number} 个；/queue 列出全部",
    "waits for you": "等待你的处理",
    "{number} wait: y all, n all": "{number} 项待审批：y all 全部允许，n all 全部拒绝",
    "steers": "插入",
    "queued": "排队",
    "queued; the question above is still open": "已排队；上面的提问尚未处理",
    "left out: a turn is running": "已忽略：有回合正在运行",
    "cut off": "已中断",
    "no longer asked": "已无需审批",
    "follows fixed rules, needs no model": "按固定规则工作，无需模型",
    "[task: {task}]": "[任务：{task}]",
    "{number} things to decide:": "{number} 项需要决定：",
    "{tool} wants to run:": "{tool} 请求执行：",
    " (answered in {via} by {who})": "（{who} 已在 {via} 中应答）",
    "a diff of {count} lines:": "diff 共 {count} 行：",
    "allowed": "已允许",
    "allowed, always in this session": "已允许，本会话中总是允许",
    "allowed, always in this folder": "已允许，本目录中总是允许",
    "allowed, always and everywhere": "已允许，任何地方总是允许",
    "denied": "已拒绝",
    "denied; the turn stops": "已拒绝；回合停止",
    "{question} (several may be chosen)": "{question}（可多选）",
    "the plan is approved; mode auto-edit": "计划已批准；auto-edit 模式",
    "the plan is approved; mode default": "计划已批准；default 模式",
    "not approved yet": "尚未批准",
    "hook: {text}": "hook：{text}",
    "{name} (new)": "{name}（新增）",
    "{name} (deleted)": "{name}（已删除）",
    "session {session} · /help shows what there is": "会话 {session} · /help 列出所有命令",
    "{sent} tokens in, {got} out": "输入 {sent} tokens，输出 {got}",
    "{steps} steps": "{steps} 步",
    "[pasted #{number}: {characters} characters]": "[粘贴 #{number}：{characters} 个字符]",
    "[pasted #{number}: {lines} lines]": "[粘贴 #{number}：{lines} 行]",
    "[image #{number}: {what}]": "[图片 #{number}：{what}]",
    "images of the clipboard need wl-paste, xclip or pngpaste; drag the file here, or name it with @": (
        "读取剪贴板图片需要 wl-paste、xclip 或 pngpaste；也可将文件拖到这里，或用 @ 指定"
    ),
    "there is no image in the clipboard": "剪贴板中没有图片",
    "the clipboard does not answer": "剪贴板没有响应",
    "clipboard": "剪贴板",
    "no editor was found; set EDITOR": "没有找到编辑器；请设置 EDITOR",
    "{editor} ended with {code}; the text is as before": "{editor} 以 {code} 退出；文本保持不变",
    "EDITOR cannot be understood: {why}": "无法理解 EDITOR：{why}",
    "Ctrl+C again leaves; the session stays": "再按一次 Ctrl+C 离开；会话保留",
    "Esc again clears the line": "再按一次 Esc 清空该行",
    "`coder resume {session}` goes on here": "`coder resume {session}` 可从此处继续",
    "the question stays open; `coder resume {session}` shows it again": (
        "提问仍未处理；`coder resume {session}` 会再次显示"
    ),
    "search: ": "搜索：",
    "sent in {via} by {who}": "{who} 在 {via} 中发送",
    "{who} in {via} was faster": "{who} 已抢先在 {via} 中应答",
    "the step limit is reached": "达到步数上限",
    (
        "Enter sends, and so does Ctrl+D; on an empty line Ctrl+D leaves, and the session stays.\n"
        "Alt+Enter, Ctrl+J or a backslash at the end of a line: one more line. Ctrl+O opens it in your editor.\n"
        "Esc stops the turn, in mid-answer too; Ctrl+C clears the line, else stops the turn; twice it leaves.\n"
        "What you send while a turn runs is queued; Up on an empty line takes it back.\n"
        "Shift+Tab goes through the modes, Ctrl+R searches what was typed; a leading space is not remembered.\n"
        "@NAME completes files; images become part of the prompt, Ctrl+V takes one from the clipboard.\n"
        "!COMMAND runs a command of your own in this folder: nobody judges it, and it has no terminal."
    ): (
        "Enter 发送，Ctrl+D 也发送；空行时 Ctrl+D 离开，会话保留。\n"
        "Alt+Enter、Ctrl+J 或行尾反斜杠：换行。Ctrl+O 在编辑器中打开输入内容。\n"
        "Esc 中断当前回合，流式输出中也可以；Ctrl+C 先清空输入，否则中断回合，连按两次离开。\n"
        "回合运行时发送的内容会排队；空行时按上箭头可取回。\n"
        "Shift+Tab 切换模式，Ctrl+R 搜索以前输入的内容；以空格开头的内容不记入历史。\n"
        "@NAME 补全文件；图片会成为提示的一部分，Ctrl+V 粘贴剪贴板中的图片。\n"
        "!COMMAND 在此目录直接执行你自己的命令：不经过权限策略与审批，也没有终端。"
    ),
    "it waits, because this process cannot run the session: {problem}": "已排队等待：本进程无法运行该会话：{problem}",
    "that question is decided, and this is another one; nothing was answered": (
        "那个提问已有结果，现在是另一个提问；没有作出应答"
    ),
    "{count} queued; they go on with the next line you send": "{count} 条在排队；发送下一行后继续",
    "that question is decided; nothing was sent": "那个提问已有结果；没有发送",
    "not sent: it stands in the input again": "没有发送：内容已回到输入框",
    # standard streams
    "standard output cannot be written: {problem}": "无法写入标准输出：{problem}",
}
