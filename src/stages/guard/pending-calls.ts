import type { WireCall, WireMessage, WireResult } from "../../contract/wire.ts";

/** Calls that were made and not answered yet, as messages come one after another. */
export class PendingCalls {
  #open: WireCall[] = [];

  get calls(): readonly WireCall[] {
    return this.#open;
  }

  /** The tool whose result this is; null if no open call says it. */
  toolOf({ id, tool }: WireResult): string | null {
    if (tool !== null && tool.trim() !== "") return tool;
    return this.#open.find((call) => call.id === id)?.tool ?? null;
  }

  /** Calls that can get no result any more, since the conversation goes on with this message. They are forgotten. */
  lostBefore({ role, results }: WireMessage): WireCall[] {
    const goesOn = (role === "user" || role === "assistant") && results.length === 0;
    return goesOn ? this.close() : [];
  }

  /** Takes note of a message's calls and results. A turn that was broken off leaves no call open. */
  see({ calls, results, aborted }: WireMessage): void {
    for (const result of results) {
      const at = this.#open.findIndex(({ id, tool }) => (result.id === null ? tool === result.tool : id === result.id));
      if (at >= 0) this.#open.splice(at, 1);
    }
    if (!aborted) this.#open.push(...calls.filter((call) => !results.some(({ id }) => id !== null && id === call.id)));
  }

  /** All open calls, which are forgotten. */
  close(): WireCall[] {
    const open = this.#open;
    this.#open = [];
    return open;
  }
}
