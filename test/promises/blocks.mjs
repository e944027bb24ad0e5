import { isDeepStrictEqual } from "node:util";
import { checkAny, sha256 } from "./promises.mjs";
import { readShown } from "./read-shown.mjs";
import { Source, sizeOf } from "./source.mjs";

/** More texts than this are one text for the store. */
const MOST_TEXTS = 64;
/** What we say of a page that is shown as text. */
const SHOWN_AS_TEXT = /^\[HTML of [\d,]+ bytes shown as text/m;
/** What stands for binary. */
const BINARY = "[binary output not shown: ";

/** What holds for a structured result. `admit` takes it, `read` gives an artifact's bytes. */
export async function checkBlocks(given, admit, read, found) {
  const result = { content: given.blocks, isError: false, details: { seed: given.seed } };
  const before = structuredClone(result);
  const { output, text, receipt } = await admit(result);
  found.that(isDeepStrictEqual(result, before), "hands off", "the result was changed");
  checkAny(given, { text, receipt }, found, true);
  found.that(
    isDeepStrictEqual(output.details, result.details) && output.isError === false,
    "blocks: other fields",
    "details or isError changed",
  );
  const isText = ({ type }) => type === "text";
  const others = (content) => content.filter((block) => !isText(block));
  found.that(
    isDeepStrictEqual(others(output.content), others(given.blocks)),
    "blocks: images stay",
    "blocks that hold no text changed",
  );
  const shown = output.content.filter(isText).map((block) => block.text);
  const came = given.blocks.filter(isText).map((block) => block.text);
  checkJoined(given, shown, found);
  const total = came
    .map(sizeOf)
    .reduce((sum, { bytes, lines }) => ({ bytes: sum.bytes + bytes, lines: sum.lines + lines }), {
      bytes: 0,
      lines: 0,
    });
  const isOne = shown.length !== came.length;
  if (isOne) {
    await checkAsOne(given, came, shown, receipt, read, found);
    return;
  }
  found.that(
    isDeepStrictEqual(receipt.total, total),
    "accounting",
    `total is ${JSON.stringify(receipt.total)}, it is ${JSON.stringify(total)}`,
  );
  found.that(
    isDeepStrictEqual(
      output.content.map(({ type }) => type),
      given.blocks.map(({ type }) => type),
    ),
    "blocks: order",
    "blocks are in another order",
  );
  const cutCount = came.filter(
    (one, index) => one !== shown[index] && !isClosing(one, shown[index], given.exitCode),
  ).length;
  found.that(
    came.length <= MOST_TEXTS || cutCount === 0 || new Set(receipt.artifacts ?? [receipt.artifact]).size <= 1,
    "blocks: one artifact",
    `${receipt.artifacts?.length} artifacts`,
  );
  if (receipt.omitted.bytes + receipt.folded.bytes === 0) return;
  for (const [index, one] of came.entries()) {
    if (one === shown[index] || receipt.binary !== undefined) continue;
    const last = shown.findLastIndex((_, at) => came[at] !== "");
    const exitCode = index === last ? given.exitCode : null;
    if (isClosing(one, shown[index], exitCode)) continue;
    const cuts = receipt.cuts.filter(({ block }) => block === index || (block === undefined && came.length === 1));
    const page = await pageOf(one, shown[index], read);
    // A page of which all is shown, or whose text had no room to be named.
    if (page !== null && page.text === null && SHOWN_AS_TEXT.test(shown[index])) {
      found.that(
        isTextOf(one, shown[index]),
        "blocks: true text (page)",
        `block ${index}: ${shown[index].slice(0, 200)}`,
      );
      continue;
    }
    const saved = page?.text ?? Buffer.from(one);
    if (page !== null && page.text !== null)
      found.that(
        isTextOf(one, saved.toString()),
        "blocks: true text (page)",
        `block ${index}: the artifact of its text is not its text: ${saved.toString().slice(0, 200)}`,
      );
    const source = new Source(saved);
    const read1 = readShown(shown[index], source, {
      cuts,
      moreCuts: receipt.moreCuts,
      exitCode,
      strategy: strategyIn(receipt, shown[index]),
      fold: given.fold,
    });
    for (const why of read1.problems)
      if (!shown[index].startsWith(BINARY)) found.add(`blocks: true text (${read1.form})`, `block ${index}: ${why}`);
  }
  await checkKept(came, shown, receipt, read, found);
}

/** Each text from a line of its own: so a model reads them, and so they are measured. */
function joined(texts) {
  const filled = texts.filter((text) => text !== "");
  return filled.map((text, index) => (index < filled.length - 1 && !text.endsWith("\n") ? `${text}\n` : text)).join("");
}

function checkJoined({ limits }, shown, found) {
  const size = sizeOf(joined(shown));
  for (const [name, unit] of [
    ["maxBytes", "bytes"],
    ["maxChars", "chars"],
    ["maxLines", "lines"],
  ])
    found.that(
      limits[name] === undefined || size[unit] <= limits[name],
      "within limits",
      `${size[unit]} ${unit} in all blocks, ${name} ${limits[name]}`,
    );
}

const isClosing = (came, shown, exitCode) =>
  exitCode !== null &&
  shown.startsWith(came) &&
  /^\n?(?:\[no output\]\n)?\[exit code -?\d+\]$/.test(shown.slice(came.length));

const strategyIn = ({ strategy }, shown) =>
  strategy === "json" || /\[[\d,]+ (?:element|key|byte)s? omitted|(?:object|array|string|value) omitted/.test(shown)
    ? "json"
    : strategy;

/** How a model reads an artifact: by its id as a shell takes it, or in a call of a tool. */
const NAMED = /(?:artifact |"id":")([a-z2-7]{12})/g;

const isPage = (came, shown) => /^\s*<(?:!doctype|html)/i.test(came) && shown.search(NAMED) >= 0;

/**
 * A block that is a web page may be shown as text; then its lines are those of the artifact that a marker names. The page
 * itself may be named too. Null if this is no such block.
 */
async function pageOf(came, shown, read) {
  if (!isPage(came, shown)) return null;
  for (const [, id] of shown.matchAll(NAMED)) {
    const text = await read(id);
    if (!text.equals(Buffer.from(came))) return { text };
  }
  return { text: null };
}

/** Stands in a page's text where there is no room to name the artifact of that text. */
const GAP = /^\[\.\.\. [\d,]+ lines? cut \.\.\.\]$/m;

/** True if what is shown has exactly the words of a page, but for gaps that it names, and after them only lines of ours. */
function isTextOf(page, shown) {
  const text = page.replaceAll(/<(style|script)[^]*?<\/\1>|<[^>]*>/g, " ").replaceAll("&amp;", "&");
  const wordsOf = (words) => (words.match(/[^\s#]+/g) ?? []).join(" ");
  const end = shown.search(SHOWN_AS_TEXT);
  const [first, ...others] = shown
    .slice(0, end < 0 ? undefined : end)
    .split(GAP)
    .map(wordsOf);
  let rest = wordsOf(text);
  if (others.length === 0) return first === rest;
  return [first, ...others].every((part) => {
    const at = rest.indexOf(part);
    rest = rest.slice(at + part.length);
    return at >= 0;
  });
}

/** Very many texts are one text: one budget, one marker, one artifact. */
async function checkAsOne(given, came, shown, receipt, read, found) {
  const filled = shown.filter((text) => text !== "");
  found.that(filled.length <= 1, "blocks: one text", `${filled.length} texts of ${came.length} are shown`);
  const source = new Source(Buffer.from(joined(came)));
  found.that(
    isDeepStrictEqual(receipt.total, source.total),
    "accounting",
    `total is ${JSON.stringify(receipt.total)}, it is ${JSON.stringify(source.total)}`,
  );
  found.that((receipt.artifacts ?? []).length <= 1, "blocks: one artifact", `${receipt.artifacts?.length} artifacts`);
  if (receipt.artifact !== null && receipt.original === undefined)
    found.that(
      source.bytes.equals(await read(receipt.artifact)),
      "saved byte for byte",
      `artifact ${receipt.artifact}`,
    );
  if (
    filled[0]?.startsWith(BINARY) ||
    receipt.original !== undefined ||
    receipt.omitted.bytes + receipt.folded.bytes === 0
  )
    return;
  checkOffsets(came, filled[0] ?? "", found);
  const { cuts, moreCuts, strategy } = receipt;
  const reading = readShown(filled[0] ?? "", source, {
    cuts,
    moreCuts,
    exitCode: given.exitCode,
    strategy,
    fold: given.fold,
  });
  for (const why of reading.problems) found.add(`blocks: true text (${reading.form})`, `as one: ${why}`);
}

/** Where the note of many blocks says that each begins, it begins. */
function checkOffsets(came, shown, found) {
  const note = /^\[([\d,]+) blocks as one text, each from a line of its own: (.*)\]$/m.exec(shown);
  if (note === null) return;
  const starts = [];
  let line = 1;
  for (const text of came) {
    starts.push(line);
    line += sizeOf(text).lines;
  }
  found.that(Number(note[1].replaceAll(",", "")) === came.length, "blocks: offsets", `${came.length}: ${note[0]}`);
  for (const [all, block, at] of note[2].matchAll(/(\d+) at (\d+)/g))
    found.that(starts[block - 1] === Number(at), "blocks: offsets", `${all}, it is at ${starts[block - 1]}`);
}

/** What was cut of each block is in the store byte for byte. */
async function checkKept(came, shown, receipt, read, found) {
  const ids = receipt.artifacts ?? (receipt.artifact === null ? [] : [receipt.artifact]);
  const kept = new Set();
  for (const id of ids) kept.add(sha256(await read(id)));
  if (receipt.original !== undefined) kept.add(sha256(await read(receipt.original)));
  for (const [index, one] of came.entries()) {
    const isCut = one !== shown[index] && !isClosing(one, shown[index], receipt.exitCode) && !isPage(one, shown[index]);
    if (isCut && one !== "")
      found.that(
        kept.has(sha256(Buffer.from(one))),
        "saved byte for byte",
        `block ${index} is in none of ${ids.length} artifacts`,
      );
  }
}
