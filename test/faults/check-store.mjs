// Reads a store by its documented format (docs/reference/on-disk-format.md) and nothing else: no line of src/ is used.
import { createHash, createHmac } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { inflateRawSync } from "node:zlib";
import { DatabaseSync } from "@photostructure/sqlite";

const ALPHABET = "abcdefghijklmnopqrstuvwxyz234567";

/**
 * What is wrong with a store, one line each; an empty list if nothing is.
 * @param {string} dir
 * @param {{ id: string, scope: string, sha256: string, bytes: number, lines: number }[]} acknowledged
 * @param {string[]} calls of events whose record was acknowledged
 * @returns {string[]}
 */
export function checkStore(dir, acknowledged, calls = []) {
  /** @type {string[]} */
  const wrong = [];
  const secret = readFileSync(join(dir, "secret"));
  if (secret.length !== 32) wrong.push(`secret has ${secret.length} bytes`);
  for (const [path, mode] of [
    ["secret", 0o600],
    ["spillway.db", 0o600],
    ["artifacts", 0o700],
    ["spool", 0o700],
  ]) {
    if (process.platform !== "win32" && (statSync(join(dir, String(path))).mode & 0o777) !== mode) {
      wrong.push(`${path} is not private`);
    }
  }
  const database = new DatabaseSync(join(dir, "spillway.db"));
  try {
    const integrity = database.prepare("pragma integrity_check").all();
    if (JSON.stringify(integrity) !== '[{"integrity_check":"ok"}]') wrong.push(JSON.stringify(integrity));
    const rows = /** @type {any[]} */ (database.prepare("select * from artifacts").all());
    const byName = new Map(rows.map((row) => [`${row.scope}/${row.id}`, row]));
    for (const ack of acknowledged) {
      const row = byName.get(`${ack.scope}/${ack.id}`);
      if (row === undefined) wrong.push(`acknowledged and gone: ${ack.id}`);
      else if (row.sha256 !== ack.sha256 || row.bytes !== ack.bytes || row.lines !== ack.lines) {
        wrong.push(`acknowledged otherwise: ${JSON.stringify(ack)} ${JSON.stringify(row)}`);
      }
    }
    // Every row, acknowledged or not: what is visible is whole.
    for (const row of rows) {
      try {
        for (const fault of checkRow(dir, database, secret, row)) wrong.push(`${row.id} (${row.form}): ${fault}`);
      } catch (error) {
        wrong.push(`${row.id} (${row.form}): ${String(error)}`);
      }
    }
    const recorded = new Set(
      database
        .prepare("select call from events")
        .all()
        .map((row) => row.call),
    );
    for (const call of calls) if (!recorded.has(call)) wrong.push(`acknowledged and gone: event ${call}`);
    const events = database.prepare("select count(*) as n from events where kind = 'output-clamped'").get();
    const sums = database.prepare("select coalesce(sum(calls), 0) as n from rollups").get();
    if (events.n !== sums.n) wrong.push(`${events.n} events, but the sums say ${sums.n}`);
  } finally {
    database.close();
  }
  return wrong;
}

function* checkRow(dir, database, secret, row) {
  const key = createHmac("sha256", secret).update(`${row.scope}\0${row.sha256}`).digest("hex");
  if (key !== row.key) yield "its key is not that of its scope and hash";
  if (idOf(key) !== row.id) yield "its id is not that of its key";
  const path = join(dir, "artifacts", key.slice(0, 2), key);
  const bytes =
    row.form === "row"
      ? database.prepare("select data from small where key = ?").get(key).data
      : row.form === "plain"
        ? readFileSync(path)
        : readBlocks(readFileSync(`${path}.blocks`));
  if (bytes.length !== row.bytes) yield `${bytes.length} bytes, not ${row.bytes}`;
  if (createHash("sha256").update(bytes).digest("hex") !== row.sha256) yield "its bytes have another hash";
  const lines = linesOf(bytes);
  if (lines !== row.lines) yield `${lines} lines, not ${row.lines}`;
  if (row.form !== "row" && (statSync(row.form === "plain" ? path : `${path}.blocks`).mode & 0o777) !== 0o600) {
    yield "its file is not private";
  }
  if (row.form !== "row" && existsSync(`${path}.idx`)) yield* checkIndex(readFileSync(`${path}.idx`), bytes);
  const ties = database.prepare("select count(*) as n from artifact_sessions where key = ?").get(key);
  if (ties.n === 0) yield "it belongs to no session, not even to none";
}

/** The first 60 bits, 5 at a time. */
function idOf(key) {
  const bits = Array.from(key.slice(0, 15), (digit) => Number.parseInt(digit, 16).toString(2).padStart(4, "0")).join(
    "",
  );
  return bits.replace(/.{5}/g, (five) => ALPHABET.charAt(Number.parseInt(five, 2)));
}

function linesOf(bytes) {
  let breaks = 0;
  for (let at = 0; at < bytes.length; at += 1) if (bytes[at] === 10) breaks += 1;
  return breaks + (bytes.length > 0 && bytes[bytes.length - 1] !== 10 ? 1 : 0);
}

function* checkIndex(file, bytes) {
  const body = file.subarray(0, -32);
  if (!createHash("sha256").update(body).digest().equals(file.subarray(-32))) return yield "its index is torn";
  if (body.toString("latin1", 0, 8) !== "SPWLINE1") yield "its index is no index";
  const blockBytes = body.readUInt32LE(8);
  if (Number(body.readBigUInt64LE(16)) !== bytes.length) yield "its index is of another length";
  let breaks = 0;
  for (let block = 0; block * blockBytes < bytes.length; block += 1) {
    const end = Math.min(bytes.length, (block + 1) * blockBytes);
    for (let at = block * blockBytes; at < end; at += 1) if (bytes[at] === 10) breaks += 1;
    if (Number(body.readBigUInt64LE(32 + block * 8)) !== breaks) return yield `its index is wrong at block ${block}`;
  }
  if (Number(body.readBigUInt64LE(24)) !== breaks) yield "its index counts otherwise";
}

function readBlocks(file) {
  const footer = file.subarray(-64);
  if (file.toString("latin1", 0, 8) !== "SPWBLOK1" || footer.toString("latin1", 56) !== "SPWBEND1") {
    throw new Error("no block file");
  }
  const indexAt = Number(footer.readBigUInt64LE(8));
  const count = footer.readUInt32LE(16);
  const index = file.subarray(indexAt, indexAt + count * 32);
  const sum = createHash("sha256").update(index).update(footer.subarray(0, 24)).digest();
  if (!sum.equals(footer.subarray(24, 56))) throw new Error("torn index of blocks");
  const blocks = Array.from({ length: count }, (_none, number) => {
    const entry = index.subarray(number * 32, number * 32 + 32);
    const offset = Number(entry.readBigUInt64LE(0));
    const stored = file.subarray(offset, offset + entry.readUInt32LE(8));
    const plain = entry.readUInt32LE(12) === 1 ? inflateRawSync(stored) : stored;
    const check = createHash("sha256").update(plain).digest().subarray(0, 16);
    if (!check.equals(entry.subarray(16))) throw new Error(`block ${number} is damaged`);
    return plain;
  });
  const bytes = Buffer.concat(blocks);
  if (bytes.length !== Number(footer.readBigUInt64LE(0))) throw new Error("blocks of another length");
  return bytes;
}

/** Files of a store's artifacts and spool, for tests that count what is left. */
export function filesOf(dir) {
  return ["artifacts", "spool"].flatMap((folder) =>
    readdirSync(join(dir, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => !entry.isDirectory())
      .map((entry) => join(entry.parentPath ?? entry.path, entry.name)),
  );
}
