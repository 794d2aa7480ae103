import { type ReactNode, useEffect, useState } from "react";
import { type Machine, machine } from "../connection/api";
import { send } from "../connection/socket";
import { t } from "../language/t";
import type { Item } from "../state/items";
import type { Session } from "../state/state";
import { useStore } from "../store";
import { BarPlot, LinePlot } from "./Plot";

const SHOWN = 120;
const MOST_TURNS = 40;

/** What the session has used, turn by turn, and how busy the machine is. */
export default function UsageTab({ session }: { session: Session }) {
  const samples = useStore((state) => state.samples);
  const found = useMachine();
  useStatistics();
  const latest = samples.at(-1);
  return (
    <div className="min-h-0 flex-1 space-y-6 overflow-y-auto px-4 py-4 text-sm">
      <SessionUse session={session} />
      <section aria-label={t("Machine")}>
        <h2 className="mb-2 text-xs text-faint">{[t("Machine"), found?.hostname].filter(Boolean).join(" · ")}</h2>
        <Row label={t("Processors")} detail={found ? t("{n} × {model}", { n: found.cpuCount, model: found.cpuModel }) : ""} value={percent(latest?.cpu)}>
          <LinePlot label={t("Processors")} most={SHOWN} values={samples.map((each) => each.cpu)} />
        </Row>
        <Row label={t("Memory")} detail={found ? bytes(found.totalMemory) : ""} value={percent(latest?.memory)}>
          <LinePlot label={t("Memory")} most={SHOWN} values={samples.map((each) => each.memory)} />
        </Row>
        <Row label={t("Disk")} detail={found ? bytes(found.totalDisk) : ""} value={percent(latest?.disk)}>
          <progress className="meter" max={1} value={latest?.disk ?? 0} aria-label={t("Disk")} />
        </Row>
      </section>
    </div>
  );
}

type Result = Extract<Item, { kind: "result" }>;

function SessionUse({ session }: { session: Session }) {
  const turns = session.items.filter((each): each is Result => each.kind === "result");
  const shown = turns.slice(-MOST_TURNS);
  const sum = (value: (turn: Result) => number) => turns.reduce((all, each) => all + value(each), 0);
  const cost = session.row.costUsd ?? sum((each) => each.costUsd);
  const number = (value: number) => value.toLocaleString();
  if (!turns.length) return <p className="text-faint">{t("No turn has ended yet")}</p>;
  return (
    <section aria-label={t("Session")}>
      <h2 className="mb-2 text-xs text-faint">{t("Session")}</h2>
      <Row label={t("Tokens in each turn")} value={number(sum(({ tokens }) => tokens.input + tokens.cached + tokens.output))}>
        <BarPlot
          label={t("Tokens in each turn")}
          bars={shown.map(({ tokens }) => ({
            title: t("{input} in, {cached} from the cache, {output} out", { input: number(tokens.input), cached: number(tokens.cached), output: number(tokens.output) }),
            parts: [
              { value: tokens.cached, className: "fill-accent/30" },
              { value: tokens.input, className: "fill-accent/60" },
              { value: tokens.output, className: "fill-accent" },
            ],
          }))}
        />
        <p className="mt-1 flex gap-3 text-xs text-faint">
          <Key className="bg-accent/30" text={t("cached")} />
          <Key className="bg-accent/60" text={t("in")} />
          <Key className="bg-accent" text={t("out")} />
        </p>
      </Row>
      {cost > 0 && (
        <Row label={t("Cost of each turn")} value={`$${cost.toFixed(cost < 0.1 ? 4 : 2)}`}>
          <BarPlot
            label={t("Cost of each turn")}
            bars={shown.map(({ costUsd }) => ({ title: `$${costUsd.toFixed(4)}`, parts: [{ value: costUsd, className: "fill-good/70" }] }))}
          />
        </Row>
      )}
      {(session.row.contextTokens ?? 0) > 0 && <Row label={t("In the context of the model")} value={t("{n} tokens", { n: number(session.row.contextTokens!) })} />}
    </section>
  );
}

function Row({ label, detail, value, children }: { label: string; detail?: string; value: string; children?: ReactNode }) {
  return (
    <div className="mb-4">
      <p className="mb-1 flex items-baseline gap-2">
        <span className="shrink-0">{label}</span>
        <span className="min-w-0 flex-1 truncate text-xs text-faint">{detail}</span>
        <span className="shrink-0 tabular-nums">{value}</span>
      </p>
      {children}
    </div>
  );
}

function Key({ className, text }: { className: string; text: string }) {
  return (
    <span className="flex items-center gap-1.5">
      <span className={`size-2 rounded-xs ${className}`} />
      {text}
    </span>
  );
}

/** Samples come while somebody looks at them. */
function useStatistics(): void {
  const isOpen = useStore((state) => state.connection === "open");
  useEffect(() => {
    if (isOpen) send({ type: "statistics.subscribe", payload: { on: true } });
    return () => {
      send({ type: "statistics.subscribe", payload: { on: false } });
    };
  }, [isOpen]);
}

function useMachine(): Machine | null {
  const [found, setFound] = useState<Machine | null>(null);
  useEffect(() => {
    machine().then(setFound, () => undefined); // the plots say enough without it
  }, []);
  return found;
}

function percent(share: number | undefined): string {
  return share === undefined ? "…" : `${Math.round(share * 100)} %`;
}

function bytes(count: number): string {
  return `${(count / 2 ** 30).toFixed(count < 2 ** 33 ? 1 : 0)} GB`;
}
