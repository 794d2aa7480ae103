import { memo, useState } from "react";
import { type Choices, choices } from "../connection/api";
import { send } from "../connection/socket";
import type { ConfigurePayload } from "../contract/client_events";
import { t } from "../language/t";
import { DownIcon } from "../parts/icons";
import { type Choice, Menu, MenuChoices } from "../parts/Menu";
import { modeChoices, modeLabel } from "../sessions/modes";
import type { SessionRow } from "../contract/server_events";

/** Mode, model and thinking of the session, from the next turn on. */
export const Switches = memo(function Switches({ row }: { row: SessionRow }) {
  const [found, setFound] = useState<Choices | null>(null);
  const load = () => {
    if (!found) choices(row.cwd ?? "").then(setFound, () => undefined);
  };
  const change = (changed: Omit<ConfigurePayload, "sessionId">) =>
    send({ type: "session.configure", payload: { sessionId: row.id, ...changed } });
  const names = [...new Set([row.model ?? "", ...(found?.models.map((each) => each.name) ?? [])])].filter(Boolean);
  return (
    <>
      <Switch label={t("Mode")} shown={modeLabel(row.mode)} value={row.mode ?? ""} choices={modeChoices()} onChoose={(mode) => change({ mode: mode as ConfigurePayload["mode"] })} />
      <Switch
        label={t("Model")}
        shown={shortModel(row.model)}
        value={row.model ?? ""}
        choices={names.map((each) => ({ value: each, label: each }))}
        onOpen={load}
        onChoose={(model) => change({ model })}
      />
      <Switch
        label={t("Thinking")}
        shown={t("Thinking: {level}", { level: thinkText(row.think ?? "auto") })}
        value={row.think ?? "auto"}
        choices={["auto", "off", "low", "medium", "high"].map((each) => ({ value: each, label: thinkText(each) }))}
        onChoose={(think) => change({ think: think as ConfigurePayload["think"] })}
        className="max-sm:hidden"
      />
    </>
  );
});

function Switch(props: { label: string; shown: string; value: string; choices: Choice[]; onChoose: (value: string) => void; onOpen?: () => void; className?: string }) {
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
      <MenuChoices value={props.value} choices={props.choices} onChoose={props.onChoose} />
    </Menu>
  );
}

function thinkText(level: string): string {
  return { auto: t("auto"), off: t("off"), low: t("low"), medium: t("medium"), high: t("high") }[level] ?? level;
}

function shortModel(model: string | undefined): string {
  return model?.replace(/^[^:]+:/, "") || t("Model");
}
