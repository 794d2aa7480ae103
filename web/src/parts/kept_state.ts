import { useState } from "react";

const kept = new Map<string, unknown>();
const MOST = 1000;

/** State of something that leaves the page while it is scrolled out of sight, or while another session is shown: it is as
 * it was when it comes back. `key` names it in the whole page. */
export function useKeptState<T>(key: string, first: T): [T, (next: T) => void] {
  const [value, set] = useState<T>(() => (kept.has(key) ? (kept.get(key) as T) : first));
  const change = (next: T) => {
    kept.delete(key); // the latest is the last
    kept.set(key, next);
    if (kept.size > MOST) kept.delete(kept.keys().next().value!);
    set(next);
  };
  return [value, change];
}
