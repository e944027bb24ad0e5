import { createHash } from "node:crypto";
import { readShown } from "./read-shown.mjs";
import { Source, sizeOf } from "./source.mjs";

// What the README promises of every output, each written down a second time.

/** No tool's output may be larger, whatever a caller asks for. */
const CEILING = { maxBytes: 51_200, maxLines: 2000 };
const UNITS = { maxBytes: "bytes", maxChars: "chars", maxLines: "lines", maxTokens: "tokens" };

/** Collects what was broken in one case. */
export class Findings {
  list = [];

  add(promise, why) {
    this.list.push({ promise, why: String(why).slice(0, 600) });
  }

  that(isKept, promise, why) {
    if (!isKept) this.add(promise, typeof why === "function" ? why() : why);
  }
}

export const sha256 = (bytes) => createHash("sha256").update(bytes).digest("hex");

/** What holds for any result, whatever it is of. `hasCeiling` where a policy stands behind the limits. */
export function checkAny({ limits }, { text, receipt }, found, hasCeiling) {
  const size = { ...sizeOf(text), tokens: receipt.shown.tokens };
  const all = [limits, ...(hasCeiling ? [CEILING] : [])];
  for (const each of all)
    for (const [name, limit] of Object.entries(each))
      found.that(
        size[UNITS[name]] <= limit,
        "within limits",
        `${size[UNITS[name]]} ${UNITS[name]} shown, ${name} ${limit}`,
      );
  for (const unit of ["bytes", "chars", "lines"])
    found.that(
      receipt.shown[unit] === size[unit],
      "receipt: shown",
      `${receipt.shown[unit]} ${unit}, ${size[unit]} are shown`,
    );
  found.that(text.isWellFormed(), "well-formed", "a lone surrogate");
  found.that(receipt.faults === undefined, "no fault", receipt.faults);
  const { total, kept, folded, redacted, omitted } = receipt;
  for (const unit of ["bytes", "lines"]) {
    const parts = [kept, folded, redacted, omitted].map((extent) => extent[unit]);
    const sum = parts.reduce((all, part) => all + part);
    found.that(
      sum === total[unit] && parts.every((part) => part >= 0),
      "accounting",
      `${parts.join(" + ")} is not ${total[unit]} ${unit}`,
    );
  }
  found.that(redacted.bytes === 0, "accounting", "something is redacted without being asked for");
}

/** What holds for one text, beside what holds for any. `saves` is whether there is a store. */
export function checkText(given, { text, receipt }, found, { saves, hasCeiling, page = null }) {
  checkAny(given, { text, receipt }, found, hasCeiling);
  const source = given.source ?? new Source(given.bytes);
  const { limits, exitCode, strategy } = given;
  for (const unit of ["bytes", "lines"])
    found.that(
      receipt.total[unit] === source.total[unit],
      "accounting",
      `total is ${receipt.total[unit]} ${unit}, it has ${source.total[unit]}`,
    );
  if (!source.text.includes("\ufffd")) found.that(!text.includes("\ufffd"), "well-formed", "half a character");
  checkNotSilent(source, limits, { text, receipt }, found);
  found.that(receipt.exitCode === exitCode, "receipt: exit code", `${receipt.exitCode}, it was ${exitCode}`);
  const isHeldBack = receipt.omitted.bytes > 0 || receipt.folded.bytes > 0;
  checkSaved(source, receipt, isHeldBack, found, saves);
  if (!isHeldBack) checkWhole(source, given, { text, receipt }, found);
  else if (receipt.binary !== undefined)
    found.that(/^(\[binary output not shown: |\[cut|cut|$)/.test(text), "binary is described", text.slice(0, 80));
  else {
    checkCutBy(source, page, given, receipt, found);
    const { cuts, moreCuts } = receipt;
    const shownOf = page ?? source;
    const read = readShown(text, shownOf, {
      cuts,
      moreCuts,
      exitCode,
      strategy: receipt.strategy ?? strategy,
      fold: given.fold,
    });
    for (const why of read.problems) found.add(`true text (${read.form})`, why);
    if (page === null) checkCuts(source, receipt, read, found);
  }
  checkRoom(source, given, { text, receipt }, found);
}

/** By the limits that nobody set, what is shown of an output is no longer than what came with its exit line. */
function checkRoom(source, { limits, exitCode }, { text, receipt }, found) {
  if (receipt.omitted.bytes === 0 || receipt.binary !== undefined || Object.keys(limits).length > 0) return;
  const { length } = source.text + closingOf(exitCode);
  found.that(text.length <= length, "no longer than it came", `${text.length} of ${length} characters`);
}

function checkNotSilent(source, limits, { text, receipt }, found) {
  const { maxBytes = 8, maxChars = 8, maxLines = 1, maxTokens = 3 } = limits;
  const hasRoom = maxBytes >= 8 && maxChars >= 8 && maxLines >= 1 && maxTokens >= 3;
  if (source.bytes.length === 0 || !hasRoom) return;
  found.that(text !== "", "never empty", "an output with content became nothing");
  if (receipt.omitted.bytes > 0)
    found.that(/omitted|cut|truncated|not shown|shown as text/.test(text), "never silent", text.slice(0, 200));
}

function checkSaved(source, receipt, isHeldBack, found, saves) {
  const mustSave = isHeldBack || !source.isValid || receipt.binary !== undefined;
  const { saved, savedBytes, artifact, sha256: digest, storedRedactions, original } = receipt;
  if (!saves) {
    found.that(
      artifact === null && digest === null && savedBytes === 0,
      "receipt: saved",
      "an artifact without a store",
    );
    found.that(saved === (mustSave ? "no" : null), "receipt: saved", `saved is ${saved}`);
  } else if (!mustSave)
    found.that(saved === null && artifact === null, "receipt: saved", `saved is ${saved} though nothing is held back`);
  else {
    found.that(saved === "yes" && artifact !== null, "receipt: saved", `saved is ${saved}, artifact ${artifact}`);
    if (storedRedactions !== undefined || original !== undefined) return;
    found.that(
      savedBytes === source.total.bytes,
      "receipt: saved",
      `${savedBytes} bytes saved of ${source.total.bytes}`,
    );
    found.that(digest === sha256(source.bytes), "receipt: sha256", `${digest} is not that of the output`);
  }
}

function checkWhole(source, { exitCode }, { text, receipt }, found) {
  const failed = exitCode !== null && exitCode !== 0;
  const whole =
    source.text === ""
      ? exitCode === null
        ? [""]
        : [`[no output]\n[exit code ${exitCode}]`, `[exit code ${exitCode}]`, ""]
      : [
          failed && !isClosed(source.text, exitCode)
            ? `${source.text}${source.text.endsWith("\n") ? "" : "\n"}[exit code ${exitCode}]`
            : source.text,
        ];
  found.that(whole.includes(text), "passes whole", () => `not as it came: ${JSON.stringify(text.slice(0, 200))}`);
  found.that(
    receipt.cutBy === null && receipt.cuts.length === 0,
    "receipt: cutBy",
    `${receipt.cutBy} though nothing is cut`,
  );
}

/** A text that comes a second time has its exit line already. */
const isClosed = (text, exitCode) => text === `[exit code ${exitCode}]` || text.endsWith(`\n[exit code ${exitCode}]`);

const closingOf = (exitCode) => (exitCode === null || exitCode === 0 ? "" : `\n[exit code ${exitCode}]`);

/** The limit that is said to bind must be one that the output does not fit, or the text that was made of a page. */
function checkCutBy(source, page, { exitCode }, { cutBy, omitted, limits }, found) {
  if (omitted.bytes === 0) {
    found.that(cutBy === null, "receipt: cutBy", `${cutBy} though nothing is omitted`);
    return;
  }
  const limit = limits[Object.keys(UNITS).find((name) => UNITS[name] === cutBy)];
  if (limit === undefined) found.add("receipt: cutBy", `${cutBy} has no limit`);
  else if (cutBy !== "tokens") {
    const [size, ofPage] = [source, page ?? source].map(({ text }) => sizeOf(text + closingOf(exitCode))[cutBy]);
    found.that(
      size > limit || ofPage > limit,
      "receipt: cutBy",
      `${cutBy}, but the output has ${size} and the limit is ${limit}`,
    );
  }
}

function checkCuts(source, receipt, { missing, form }, found) {
  const { cuts, moreCuts, omitted } = receipt;
  let before = { toLine: 0 };
  for (const cut of cuts) {
    const isOrdered =
      cut.fromLine >= before.toLine && cut.fromLine <= cut.toLine && cut.toLine <= source.total.lines && cut.bytes > 0;
    found.that(isOrdered, "receipt: cuts", `${JSON.stringify(cut)} after ${JSON.stringify(before)}`);
    before = cut;
  }
  if (moreCuts > 0) return;
  const sum = cuts.reduce((all, { bytes }) => all + bytes, 0);
  found.that(sum === omitted.bytes, "receipt: cuts", `${sum} bytes in cuts, ${omitted.bytes} omitted`);
  if (form !== "exact" || !missing) return;
  found.that(
    missing.lines === omitted.lines,
    "accounting",
    `${omitted.lines} lines omitted, ${missing.lines} are missing`,
  );
  found.that(
    receipt.folded.bytes > 0 || missing.bytes === omitted.bytes,
    "accounting",
    `${omitted.bytes} bytes omitted, ${missing.bytes} are missing`,
  );
}
