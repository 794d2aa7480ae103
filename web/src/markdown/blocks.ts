// Splits a text that is still being written into blocks that are finished and one that is not (see facts of the
// renderer in docs): only the last block is read again when the text grows.

import { lexer, type Token } from "marked";

export interface Block {
  raw: string;
}

/** The blocks of a growing text. `take` may only be called with longer versions of one text; another text starts anew. */
export class GrowingBlocks {
  private finished: Block[] = [];
  private done = 0; // how much of the text the finished blocks cover
  private last = "";

  take(text: string): { finished: readonly Block[]; live: string } {
    if (!text.startsWith(this.last)) {
      this.finished = [];
      this.done = 0;
    }
    this.last = text;
    const tokens = lexer(text.slice(this.done));
    const live = lastBlock(tokens);
    const more = tokens.slice(0, live).filter((each) => each.type !== "space");
    if (more.length) this.finished = [...this.finished, ...more.map((each) => ({ raw: each.raw }))];
    this.done += tokens.slice(0, live).reduce((sum, each) => sum + each.raw.length, 0);
    return { finished: this.finished, live: text.slice(this.done) };
  }
}

/** The index of the last token that is not space: what comes before it will not change any more. */
function lastBlock(tokens: Token[]): number {
  for (let index = tokens.length - 1; index >= 0; index--) if (tokens[index]!.type !== "space") return index;
  return tokens.length;
}
