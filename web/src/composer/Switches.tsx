import { memo, type ReactNode, useState } from "react";
import { type Choices, choices } from "../connection/api";
import { send } from "../connection/socket";
import type { ConfigurePayload } from "../contract/client_events";
import { t } from "../language/t";
import { DownIcon } from "../parts/icons";
import { type Choice, Menu, MenuChoices } from "../parts/Menu";
import { modeChoices, modeLabel } from "../sessions/modes";
import type { SessionRow } from "../contract/server_events";

/** Mode, model, thinking and agent of the session, from the next turn on. */
export const Switches = memo(function Switches({ row }: { row: SessionRow }) {
  const [found, setFound] = useState<Choices | null>(null);
  const load = () => {
    if (!found) choices(row.cwd ?? "").then(setFound, () => undefined);
  };
  const change = (changed: Omit<ConfigurePayload, "sessionId">) =>
    send({ type: "session.configure", payload: { sessionId: row.id, ...changed } });
  const models = [...new Set([row.model ?? "", ...(found?.models.map((each) => each.name) ?? [])])].filter(Boolean);
  const agents = [...new Set([row.agent ?? "", ...(found?.agents.filter((each) => !each.problem).map((each) => each.name) ?? [])])].filter(Boolean);
  const think = { value: row.think ?? "auto", choices: LEVELS.map((each) => ({ value: each, label: thinkText(each) })), onChoose: (level: string) => change({ think: level as ConfigurePayload["think"] }) };
  return (
    <>
      <Switch label={t("Mode")} shown={modeLabel(row.mode)}>
        <MenuChoices value={row.mode ?? ""} choices={modeChoices()} onChoose={(mode) => change({ mode: mode as ConfigurePayload["mode"] })} />
      </Switch>
      <Switch label={t("Model")} shown={shortModel(row.model)} onOpen={load}>
        <MenuChoices label={t("Model")} value={row.model ?? ""} choices={named(models)} onChoose={(model) => change({ model })} />
        <MenuChoices label={t("Thinking")} className="sm:hidden" {...think} />
        {agents.length > 1 && <MenuChoices label={t("Agent")} value={row.agent ?? ""} choices={named(agents)} onChoose={(agent) => change({ agent })} />}
      </Switch>
      <Switch label={t("Thinking")} shown={t("Thinking: {level}", { level: thinkText(think.value) })} className="max-sm:hidden">
        <MenuChoices {...think} />
      </Switch>
    </>
  );
});

const LEVELS = ["auto", "off", "low", "medium", "high"];

function named(values: string[]): Choice[] {
  return values.map((each) => ({ value: each, label: each }));
}

function Switch(props: { label: string; shown: string; children: ReactNode; onOpen?: () => void; className?: string }) {
  return (
    <Menu
      side="top"
      button={
        <button
          type="button"
          aria-label={props.shown.startsWith(props.label) ? props.shown : `${props.label}: ${props.shown}`}
          className={`flex h-7 min-w-0 items-center gap-1 rounded-md px-1.5 text-xs text-soft hover:bg-hover ${props.className ?? ""}`}
          onPointerEnter={props.onOpen}
          onFocus={props.onOpen}
        >
          <span className="truncate">{props.shown}</span>
          <DownIcon size={10} />
        </button>
      }
    >
      {props.children}
    </Menu>
  );
}

function thinkText(level: string): string {
  return { auto: t("auto"), off: t("off"), low: t("low"), medium: t("medium"), high: t("high") }[level] ?? level;
}

function shortModel(model: string | undefined): string {
  return model?.replace(/^[^:]+:/, "") || t("Model");
}
