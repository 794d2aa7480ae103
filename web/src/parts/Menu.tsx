import { DropdownMenu } from "radix-ui";
import type { ReactNode } from "react";
import { CheckIcon } from "./icons";

/** A menu that a button opens. */
export function Menu({ button, children, align = "start", side }: { button: ReactNode; children: ReactNode; align?: "start" | "end"; side?: "top" | "bottom" }) {
  return (
    <DropdownMenu.Root modal={false}>
      <DropdownMenu.Trigger asChild>{button}</DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content className="menu fade-in" align={align} side={side} sideOffset={4} collisionPadding={8}>
          {children}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}

export function MenuItem(props: { onSelect: () => void; children: ReactNode; disabled?: boolean; danger?: boolean; title?: string }) {
  return (
    <DropdownMenu.Item
      className={`menu-item ${props.danger ? "text-bad" : ""}`}
      disabled={props.disabled}
      title={props.title}
      onSelect={props.onSelect}
    >
      {props.children}
    </DropdownMenu.Item>
  );
}

export interface Choice {
  value: string;
  label: string;
  detail?: string;
}

/** Choices of which one holds; with a label, if the menu has other things too. */
export function MenuChoices(props: { value: string; choices: Choice[]; onChoose: (value: string) => void; label?: string; className?: string }) {
  return (
    <DropdownMenu.RadioGroup value={props.value} onValueChange={props.onChoose} aria-label={props.label} className={`menu-group ${props.className ?? ""}`}>
      {props.label && <DropdownMenu.Label className="px-2.5 pt-1 pb-0.5 text-xs text-faint">{props.label}</DropdownMenu.Label>}
      {props.choices.map((each) => (
        <DropdownMenu.RadioItem key={each.value} value={each.value} className="menu-item items-start">
          <span className="mt-0.5 w-4 text-accent">{each.value === props.value && <CheckIcon />}</span>
          <span className="min-w-0">
            <span className="block truncate">{each.label}</span>
            {each.detail && <span className="block text-xs text-faint">{each.detail}</span>}
          </span>
        </DropdownMenu.RadioItem>
      ))}
    </DropdownMenu.RadioGroup>
  );
}
