import type { AskRequest } from "../contract/server_events";
import { Diff } from "../conversation/Diff";
import { inLanguage, t } from "../language/t";
import { DownIcon } from "../parts/icons";
import { useKeptState } from "../parts/kept_state";
import { Menu, MenuItem } from "../parts/Menu";
import { answer } from "./answer";
import { permissionQuestion, rememberedCommand } from "./ask_text";
import { TextAnswer } from "./TextAnswer";
import { useStore } from "../store";

export function PermissionAsk({ ask }: { ask: AskRequest }) {
  const [isTyping, setTyping] = useKeptState(`${ask.askId}/typing`, false);
  const allow = (scope: "once" | "session" | "project" | "person") => answer(ask, { behavior: "allow", scope });
  const remembered = rememberedCommand(ask);
  return (
    <>
      <h2 className="text-sm font-semibold">{permissionQuestion(ask)}</h2>
      {ask.reason && <p className="text-sm text-soft">{inLanguage(ask.reason, ask.retold)}</p>}
      <Subject ask={ask} />
      {isTyping ? (
        <TextAnswer
          name={ask.askId}
          label={t("What should be done instead?")}
          action={t("Deny")}
          onSend={(message) => answer(ask, { behavior: "deny", message })}
          onCancel={() => setTyping(false)}
        />
      ) : (
        <div className="mt-3 flex flex-wrap items-center gap-2 max-sm:gap-1.5 max-sm:[&_.button]:px-2">
          <button type="button" className="button primary" onClick={() => allow("once")}>
            {t("Allow once")}
          </button>
          <Menu
            button={
              <button type="button" className="button">
                {t("Always allow")}
                <DownIcon size={12} />
              </button>
            }
          >
            {remembered && <p className="px-2.5 pt-1 pb-1.5 font-mono text-xs break-all text-faint">{remembered}</p>}
            <MenuItem onSelect={() => allow("session")}>{t("in this session")}</MenuItem>
            <MenuItem onSelect={() => allow("project")}>{t("in this folder")}</MenuItem>
            <MenuItem onSelect={() => allow("person")}>{t("for me, everywhere")}</MenuItem>
            {ask.offersMode && (
              <MenuItem onSelect={() => answer(ask, { behavior: "allow", scope: "once", mode: ask.offersMode })}>
                {t("every edit: switch to “Edit freely”")}
              </MenuItem>
            )}
          </Menu>
          <span className="flex sm:ml-3">
            <button type="button" className="button rounded-r-none" onClick={() => answer(ask, { behavior: "deny" })}>
              {t("Deny")}
            </button>
            <Menu
              align="end"
              button={
                <button type="button" className="button -ml-px rounded-l-none px-1.5" aria-label={t("More ways to deny")}>
                  <DownIcon size={12} />
                </button>
              }
            >
              <MenuItem onSelect={() => setTyping(true)}>{t("Deny and say what to do instead …")}</MenuItem>
              <MenuItem danger onSelect={() => answer(ask, { behavior: "deny_and_stop" })}>
                {t("Deny and stop")}
              </MenuItem>
            </Menu>
          </span>
        </div>
      )}
    </>
  );
}

/** Exactly what would be done. */
function Subject({ ask }: { ask: AskRequest }) {
  const { commandInfo } = ask;
  const cwd = useStore((state) => state.sessions[ask.sessionId]?.row.cwd);
  if (commandInfo) {
    const wishes = [
      ...(commandInfo.rights ?? []).map((each) => (each === "network" ? t("uses the network") : t("runs outside of the sandbox"))),
      ...(commandInfo.background ? [t("keeps running in the background")] : []),
    ];
    return (
      <>
        <Exactly text={commandInfo.command} name={ask.askId} />
        {(commandInfo.cwd !== cwd || wishes.length > 0) && (
          <p className="mt-1 truncate text-xs text-faint" title={commandInfo.cwd}>
            {commandInfo.cwd !== cwd && `${commandInfo.cwd} `}
            <span className="text-warn">{wishes.join(" · ")}</span>
          </p>
        )}
      </>
    );
  }
  if (ask.diff)
    return (
      <div className="mt-2">
        <p className="mb-1 font-mono text-xs break-all text-soft">{ask.paths?.map((each) => (cwd && each.startsWith(`${cwd}/`) ? each.slice(cwd.length + 1) : each)).join(" ") ?? ask.title}</p>
        <Diff diff={ask.diff} lines={24} name={ask.askId} />
      </div>
    );
  const text = ask.url ?? ask.paths?.join("\n") ?? JSON.stringify(ask.input, null, 2);
  return <Exactly text={text} name={ask.askId} />;
}

const SHOWN = 12;

/** A text as it is. Of a long one, how much is not shown is said: nobody allows what he took for all of it. */
function Exactly({ text, name }: { text: string; name: string }) {
  const [isOpen, setOpen] = useKeptState(`${name}/exactly`, false);
  const lines = text.split("\n");
  const hidden = lines.length - SHOWN;
  return (
    <>
      <pre className="mt-2 font-mono text-[13px] whitespace-pre-wrap break-all">{isOpen || hidden <= 0 ? text : lines.slice(0, SHOWN).join("\n")}</pre>
      {hidden > 0 && (
        <button type="button" aria-expanded={isOpen} className="text-xs text-accent hover:underline" onClick={() => setOpen(!isOpen)}>
          {isOpen ? t("Show less") : t("Show {n} more lines", { n: hidden })}
        </button>
      )}
    </>
  );
}
