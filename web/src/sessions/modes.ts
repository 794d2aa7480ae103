import { MODES } from "../contract/client_events";
import { inPageLanguage } from "../language/t";
import type { Choice } from "../parts/Menu";

export function modeChoices(): Choice[] {
  return MODES.map((mode) => ({ value: mode.name, label: inPageLanguage(mode.label), detail: inPageLanguage(mode.detail) }));
}

/** The mode for people; `mode` is its name, or the one that it has in the contract. */
export function modeLabel(mode: string | undefined): string {
  const found = MODES.find((each) => each.name === mode || each.outsideName === mode);
  return found ? inPageLanguage(found.label) : (mode ?? "");
}
