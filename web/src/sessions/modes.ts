import { t } from "../language/t";
import type { Choice } from "../parts/Menu";
import { MODES } from "../contract/client_events";

export function modeChoices(): Choice[] {
  const texts: Record<(typeof MODES)[number], [string, string]> = {
    plan: [t("Plan"), t("Explore and propose a plan, change nothing")],
    default: [t("Ask first"), t("Ask before changes and commands")],
    "auto-edit": [t("Edit freely"), t("Edit files and run tests without asking")],
    yolo: [t("Never ask"), t("Run every command without asking")],
  };
  return MODES.map((mode) => ({ value: mode, label: texts[mode][0], detail: texts[mode][1] }));
}

export function modeLabel(mode: string | undefined): string {
  return modeChoices().find((each) => each.value === mode)?.label ?? mode ?? "";
}
