/** The answer to one question: the labels, then the free text, joined by a comma. */
export function joinedAnswer(labels: string[], other: string): string {
  return [...labels, other.trim()].filter(Boolean).join(", ");
}
