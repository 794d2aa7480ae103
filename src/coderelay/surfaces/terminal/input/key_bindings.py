"""Key bindings of the terminal input. Other keys keep prompt_toolkit's Emacs bindings."""

import os
import signal
from collections.abc import Awaitable, Callable
from typing import Protocol

from prompt_toolkit.application import in_terminal
from prompt_toolkit.application.current import get_app
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.filters import Condition, is_searching, vi_insert_mode, vi_navigation_mode
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.key_binding.vi_state import InputMode
from prompt_toolkit.keys import Keys

from coderelay.client.i18n import t
from coderelay.protocol.errors import BadInput
from coderelay.surfaces.terminal.input.clipboard_image import clipboard_picture
from coderelay.surfaces.terminal.input.external_editor import Lend, edit
from coderelay.surfaces.terminal.input.mention_syntax import unfinished_mention
from coderelay.surfaces.terminal.input.pasted_text_and_images import Attachments, take_paste

ANSWER_KEYS = "yneas123456789 "
_SHORTCUTS = (
    "? shortcuts · / commands · @ files · ! your own shell command",
    "Shift+Tab changes the mode · Ctrl+R searches the history · Ctrl+O opens your editor",
    "Alt+Enter starts a new line · Esc stops the turn · Ctrl+D exits · ? and Enter lists all keys",
)


class Actions(Protocol):
    """The actions that keys trigger beyond editing the text."""

    def send(self, text: str) -> bool:
        """Send the text of the buffer, with attachments as characters. Returns True if it belongs in the history."""
        ...

    def interrupt(self) -> bool:
        """Close an open picker, or stop the turn. Returns False if there is neither."""
        ...

    def leave(self) -> None: ...

    def has_turns(self) -> bool:
        """Whether there is something to go back to."""
        ...

    def rewind(self) -> None:
        """Let the person pick the prompt to go back to."""
        ...

    def hint(self, text: str) -> None:
        """Show a text until the next key."""
        ...

    def cycle_mode(self) -> None: ...

    def clear_screen(self) -> None: ...

    def show_rest(self) -> None:
        """Print in full what was shortened last."""
        ...

    def answer_key(self, key: str) -> bool:
        """Handle a single key on an empty line. Returns True if the key must not be inserted as text."""
        ...

    def begin_reason(self) -> bool:
        """Begin a refusal with a reason on an empty line. Returns False if no question is open that can be refused
        so."""
        ...

    def recall(self) -> bool:
        """Recall the last queued prompt into the buffer. Returns False if none is queued."""
        ...

    def move(self, by: int) -> bool:
        """Move the selection of an open picker. Returns False if none is open."""
        ...


def shortcuts() -> str:
    """The most useful keys, a few lines."""
    return "\n".join(t(_SHORTCUTS[line]) for line in range(len(_SHORTCUTS)))


async def lend_terminal(work: Callable[[], Awaitable[object]]) -> None:
    async with in_terminal():
        await work()


def make_bindings(actions: Actions, attachments: Attachments, lend: Lend = lend_terminal) -> KeyBindings:
    keys = KeyBindings()
    typing = ~is_searching
    _bind_sending(keys, actions)
    _bind_stopping(keys, actions)
    _bind_moving(keys, actions)
    _bind_pasting(keys, actions, attachments)

    @keys.add("s-tab", filter=typing)
    def _(event: KeyPressEvent) -> None:
        if event.current_buffer.complete_state:
            event.current_buffer.complete_previous()
        else:
            actions.cycle_mode()

    @keys.add("c-l", filter=typing)
    def _(event: KeyPressEvent) -> None:
        actions.clear_screen()

    @keys.add("c-t", filter=typing)
    def _(event: KeyPressEvent) -> None:
        actions.show_rest()

    @keys.add("c-z")
    async def _(event: KeyPressEvent) -> None:
        await lend(_suspend)

    @keys.add("c-o", filter=typing)
    async def _(event: KeyPressEvent) -> None:
        try:
            await edit(event.current_buffer, attachments, lend)
        except BadInput as refusal:
            actions.hint(refusal.message)

    return keys


async def _suspend() -> None:
    os.kill(0, signal.SIGTSTP)  # returns when the shell continues us


def _bind_sending(keys: KeyBindings, actions: Actions) -> None:
    typing = ~is_searching

    @keys.add("enter", filter=typing)
    def _(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if buffer.complete_state and buffer.complete_state.current_completion:
            _take_completion(buffer)
        elif (
            buffer.document.current_line_before_cursor.endswith("\\") and buffer.document.is_cursor_at_the_end_of_line
        ):
            buffer.delete_before_cursor()
            buffer.newline(copy_margin=False)
        else:
            _send(buffer, actions)

    @keys.add("escape", "enter", filter=typing)
    @keys.add("c-j", filter=typing)
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.newline(copy_margin=False)

    @keys.add("c-d", filter=typing)
    def _(event: KeyPressEvent) -> None:
        if event.current_buffer.text:
            _send(event.current_buffer, actions)
        else:
            actions.leave()

    @keys.add("tab", filter=typing)
    def _(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if not buffer.text and actions.begin_reason():
            return
        if buffer.complete_state is None:
            buffer.start_completion(insert_common_part=True)
        elif buffer.complete_state.completions:
            if buffer.complete_state.current_completion is None:
                buffer.go_to_completion(0)
            _take_completion(buffer)

    @Condition
    def is_empty() -> bool:
        return not get_app().current_buffer.text

    def answer(event: KeyPressEvent) -> None:
        if not actions.answer_key(event.data):
            event.current_buffer.insert_text(event.data)

    begins = typing & is_empty & ~vi_navigation_mode
    for key in ANSWER_KEYS:
        keys.add(key, filter=begins)(answer)

    @keys.add("?", filter=begins)
    def _(event: KeyPressEvent) -> None:
        """Show the shortcuts until the next key; a prompt may begin with a question mark, too."""
        event.current_buffer.insert_text(event.data)
        actions.hint(shortcuts())


def _bind_stopping(keys: KeyBindings, actions: Actions) -> None:
    warned = ""  # the action that the previous key has announced for pressing it again

    @keys.add("c-c", filter=~is_searching)
    @keys.add(Keys.SIGINT)
    def _(event: KeyPressEvent) -> None:
        nonlocal warned
        again, warned = warned == "leave" and event.is_repeat, ""
        if event.current_buffer.text:
            _clear(event.current_buffer)
        elif actions.interrupt():
            return
        elif again:
            actions.leave()
        else:
            warned = "leave"
            actions.hint(t("Press Ctrl+C again to exit; the session is kept"))

    @keys.add("escape", filter=~is_searching)
    def _(event: KeyPressEvent) -> None:
        nonlocal warned
        again, warned = warned if event.is_repeat else "", ""
        buffer = event.current_buffer
        if buffer.complete_state:
            buffer.cancel_completion()
        elif vi_insert_mode():
            if not buffer.text and actions.interrupt():
                return
            event.app.vi_state.input_mode = InputMode.NAVIGATION
            buffer.cursor_position += buffer.document.get_cursor_left_position()
            actions.hint("-- NORMAL --")
        elif actions.interrupt():
            return
        elif again == "clear":
            _clear(buffer)
        elif buffer.text:
            warned = "clear"
            actions.hint(t("Press Esc again to clear the input"))
        elif again == "rewind":
            actions.rewind()
        elif actions.has_turns() and not vi_navigation_mode():
            warned = "rewind"
            actions.hint(t("Press Esc again to go back to an earlier prompt"))


def _bind_moving(keys: KeyBindings, actions: Actions) -> None:
    typing = ~is_searching

    @keys.add("up", filter=typing)
    @keys.add("c-p", filter=typing)
    def _(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if not actions.move(-1) and (buffer.text or not actions.recall()):
            buffer.auto_up(count=event.arg)

    @keys.add("down", filter=typing)
    @keys.add("c-n", filter=typing)
    def _(event: KeyPressEvent) -> None:
        if not actions.move(1):
            event.current_buffer.auto_down(count=event.arg)

    @keys.add("backspace", filter=typing, save_before=lambda event: not event.is_repeat)
    def _(event: KeyPressEvent) -> None:
        """Delete as usual, and offer completions for the remaining text."""
        buffer = event.current_buffer
        if not buffer.delete_before_cursor(count=event.arg):
            event.app.output.bell()
        before = buffer.document.text_before_cursor
        if (before.startswith("/") and "\n" not in before) or unfinished_mention(before) is not None:
            buffer.start_completion()


def _bind_pasting(keys: KeyBindings, actions: Actions, attachments: Attachments) -> None:
    @keys.add(Keys.BracketedPaste, filter=~is_searching)
    def _(event: KeyPressEvent) -> None:
        text, notes = take_paste(event.data, attachments)
        event.current_buffer.insert_text(text)
        if notes:
            actions.hint("\n".join(notes))

    @keys.add("c-v", filter=~is_searching)
    async def _(event: KeyPressEvent) -> None:
        try:
            picture = await clipboard_picture()
        except BadInput as refusal:
            actions.hint(refusal.message)
        else:
            event.current_buffer.insert_text(f"{attachments.keep(picture)} ")


def _send(buffer: Buffer, actions: Actions) -> None:
    text = buffer.text
    get_app().vi_state.input_mode = InputMode.INSERT  # the next line begins as this one did
    if actions.send(text) and text:
        buffer.append_to_history()
    _clear(buffer)


def _clear(buffer: Buffer) -> None:
    """Reset the buffer, and load its history at once instead of at the next redraw."""
    buffer.reset()
    buffer.load_history_if_not_yet_loaded()


def _take_completion(buffer: Buffer) -> None:
    """Accept the selected completion; if more can follow it, offer the next completions."""
    buffer.complete_state = None
    if buffer.text[: buffer.cursor_position].endswith(("/", " ")):
        buffer.start_completion()
