// Reads a store by its documented format (docs/reference/on-disk-format.md) and nothing else: no line of src/ is used.
import { createHash, createHmac } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
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
    row.form === "row" ? database.prepare("select data from small where key = ?").get(key).data : readFileSync(path);
  if (bytes.length !== row.bytes) yield `${bytes.length} bytes, not ${row.bytes}`;
  if (createHash("sha256").update(bytes).digest("hex") !== row.sha256) yield "its bytes have another hash";
  const lines = linesOf(bytes);
  if (lines !== row.lines) yield `${lines} lines, not ${row.lines}`;
  if (row.form === "plain" && (statSync(path).mode & 0o777) !== 0o600) yield "its file is not private";
  const index = database.prepare("select data from line_indexes where key = ?").get(key);
  if (row.form === "plain" && index !== undefined) yield* checkIndex(Buffer.from(index.data), bytes);
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

function* checkIndex(data, bytes) {
  const body = data.subarray(0, -4);
  if (crc32(body) !== data.readUInt32LE(body.length)) return yield "its index is torn";
  if (body.toString("latin1", 0, 8) !== "SPWLINE2") yield "its index is no index";
  const blockBytes = body.readUInt32LE(8);
  if (Number(body.readBigUInt64LE(16)) !== bytes.length) yield "its index is of another length";
  let breaks = 0;
  for (let block = 0; block * blockBytes < bytes.length; block += 1) {
    const end = Math.min(bytes.length, (block + 1) * blockBytes);
    for (let at = block * blockBytes; at < end; at += 1) if (bytes[at] === 10) breaks += 1;
    if (Number(body.readBigUInt64LE(32 + block * 12)) !== breaks) return yield `its index is wrong at block ${block}`;
    if (body.readUInt32LE(40 + block * 12) !== crc32(bytes.subarray(block * blockBytes, end))) {
      return yield `its checksum is wrong at block ${block}`;
    }
  }
  if (Number(body.readBigUInt64LE(24)) !== breaks) yield "its index counts otherwise";
}

/** CRC-32 as of IEEE 802.3, bit by bit from its definition, eight at a time by a table. */
const TABLE = Array.from({ length: 256 }, (_none, byte) => {
  let sum = byte;
  for (let bit = 0; bit < 8; bit += 1) sum = (sum & 1) === 1 ? (sum >>> 1) ^ 0xedb88320 : sum >>> 1;
  return sum >>> 0;
});

function crc32(bytes) {
  let sum = 0xffffffff;
  for (let at = 0; at < bytes.length; at += 1) sum = (sum >>> 8) ^ TABLE[(sum ^ bytes[at]) & 255];
  return (sum ^ 0xffffffff) >>> 0;
}

/** Files of a store's artifacts and spool, for tests that count what is left. */
export function filesOf(dir) {
  return ["artifacts", "spool"].flatMap((folder) =>
    readdirSync(join(dir, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => !entry.isDirectory())
      .map((entry) => join(entry.parentPath ?? entry.path, entry.name)),
  );
}
