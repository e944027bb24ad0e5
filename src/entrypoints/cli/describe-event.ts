import type { RecordedEvent } from "../../contract/event.ts";
import { counted, grouped } from "../../stages/mark/texts.ts";
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
  what.push(...requestTexts(more ?? {}));
  if (typeof more?.["reason"] === "string") what.push(cell(more["reason"]));
  const faults: unknown = receipt?.faults ?? more?.["faults"] ?? (more?.["fault"] ? [more["fault"]] : []);
  if (Array.isArray(faults)) what.push(...faults.map((fault) => cell(String(fault), MAX_FAULT_CHARS)));
  if (artifact !== null) what.push(`artifact ${artifact}`);
  const names = [event.session, event.tool].map((name) => cell(name)).join("  ");
  return `${timeText(event.atMs)}  ${event.kind.padEnd(18)}  ${names}  ${what.join("; ")}`.trimEnd().concat("\n");
}

/** What an event says of a request that was made smaller: which step, from how much to how much, and why. */
function requestTexts({
  rung,
  freedTokens,
  leftTokens,
  fromTokens,
  estimatedTokens,
  sends,
  why,
  ...more
}: More): string[] {
  const texts: string[] = [];
  const from = fromTokens ?? tokensOf(more["before"]);
  const to = fromTokens === undefined ? tokensOf(more["after"]) : estimatedTokens;
  if (typeof rung === "string") texts.push(cell(rung));
  if (typeof freedTokens === "number") texts.push(`${counted(freedTokens, "token")} freed`);
  if (typeof leftTokens === "number") texts.push(`${grouped(leftTokens)} left`);
  if (typeof from === "number" && typeof to === "number") texts.push(`${grouped(from)} -> ${counted(to, "token")}`);
  else if (typeof estimatedTokens === "number") texts.push(counted(estimatedTokens, "token"));
  if (typeof sends === "number") texts.push(`sent ${counted(sends, "time")}`);
  if (typeof why === "string") texts.push(cell(why, MAX_FAULT_CHARS));
  return texts;
}

type More = Record<string, unknown>;

function tokensOf(weight: unknown): unknown {
  return typeof weight === "object" && weight !== null && "tokens" in weight ? weight.tokens : undefined;
}
