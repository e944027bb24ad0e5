import type { RecordedEvent } from "../../contract/event.ts";
import { counted } from "../../stages/mark/texts.ts";
import { sizeText, timeText } from "./amounts.ts";
import { cell } from "./table.ts";

/** A reason is worth more room than a name. */
const MAX_FAULT_CHARS = 300;

/** An event on one line, for people. */
export function describeEvent(event: RecordedEvent): string {
  const { receipt, artifact, more } = event;
  const what: string[] = [];
  if (receipt !== null) {
    what.push(`${sizeText(receipt.total.bytes)}, ${counted(receipt.total.lines, "line")}`);
    if (receipt.cutBy !== null) what.push(`cut by ${receipt.cutBy} to ${sizeText(receipt.shown.bytes)}`);
    if (receipt.exitCode !== null) what.push(`exit code ${receipt.exitCode}`);
  } else if (typeof more?.["bytes"] === "number") what.push(sizeText(more["bytes"]));
  if (typeof more?.["reason"] === "string") what.push(cell(more["reason"]));
  const faults: unknown = receipt?.faults ?? more?.["faults"];
  if (Array.isArray(faults)) what.push(...faults.map((fault) => cell(String(fault), MAX_FAULT_CHARS)));
  if (artifact !== null) what.push(`artifact ${artifact}`);
  const names = [event.session, event.tool].map((name) => cell(name)).join("  ");
  return `${timeText(event.atMs)}  ${event.kind.padEnd(17)}  ${names}  ${what.join("; ")}`.trimEnd().concat("\n");
}
