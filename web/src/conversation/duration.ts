/** A duration as people read it: 0.4 s, 12 s, 3 min 20 s. */
export function duration(ms: number | undefined): string {
  if (ms === undefined || ms < 0) return "";
  if (ms < 10_000) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
