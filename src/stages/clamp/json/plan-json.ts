import { fairShares } from "../fair-shares.ts";
import { decode } from "../fit.ts";
import {
  entrySize,
  GONE_SIZE,
  groupSize,
  heldBytes,
  isGroup,
  isMember,
  isWhole,
  type JsonEntry,
  type JsonGone,
  type JsonGroup,
  type JsonMember,
  type JsonNode,
  type JsonSkip,
  type JsonText,
  lastLine,
  memberBytes,
  type RareSort,
  SKIP_SIZE,
} from "./json-node.ts";

/** A group with less room than this is left out as a whole. */
const LEAST_GROUP_BYTES = 80;
/** A string is not shortened to less than this. */
const LEAST_TEXT_BYTES = GONE_SIZE + 16;

/**
 * Returns a value that takes about `budget` bytes. A string keeps both ends, an array its first, last and unusual elements,
 * an object all its keys while they have room. The given value is not changed.
 */
export function planJson(node: JsonNode, budget: number): JsonNode {
  if (!isGroup(node)) return planLeaf(node, budget);
  const size = node.isOpen ? openSize(node) : node.size;
  if (size <= Math.max(budget, GONE_SIZE)) return node;
  if (budget < LEAST_GROUP_BYTES && !node.isOpen) return goneFor(node);
  return planGroup(node, budget);
}

function planLeaf(node: Exclude<JsonNode, JsonGroup>, budget: number): JsonNode {
  if (node.size <= Math.max(budget, GONE_SIZE)) return node;
  if (node.kind !== "text") return goneFor(node);
  return budget < LEAST_TEXT_BYTES ? goneFor(node) : shortenText(node, budget);
}

/** Returns the size of a group that still grows. Its own `size` is set when it ends. */
function openSize(group: JsonGroup): number {
  const last = group.entries.at(-1);
  const inner = last !== undefined && isMember(last) && isGroup(last.node) && last.node.isOpen ? last.node : null;
  return groupSize(group) + (inner === null ? 0 : openSize(inner) - inner.size);
}

function planGroup(group: JsonGroup, budget: number): JsonGroup {
  const room = budget - 2;
  const chosen = chooseEntries(group, room);
  const kept = group.entries.filter((entry, index): entry is JsonMember => isMember(entry) && chosen.has(index));
  const skips = countSkips(group.entries, chosen);
  const keys = kept.reduce((sum, { key }) => sum + 1 + (key === null ? 0 : key.bytes.length + 1), 0);
  const sizes = kept.map(({ node }) => (isGroup(node) && node.isOpen ? openSize(node) : node.size));
  const ranks = specialRanks(group);
  const asks = kept.map((entry, index) => ({
    size: sizes[index] as number,
    // What a call looks for may be none of what usually tells most.
    telling: group.words !== 0 ? 0 : Math.min(tellingBytes(entry), sizes[index] as number),
    rank: ranks.get(entry) ?? 0,
  }));
  const shares = specialFirst(asks, Math.max(0, room - keys - skips * SKIP_SIZE));
  const planned = new Map(kept.map((entry, index) => [entry, planJson(entry.node, shares[index] as number)]));
  const entries: JsonEntry[] = [];
  group.entries.forEach((entry, index) => {
    const node = isMember(entry) && chosen.has(index) ? planned.get(entry) : undefined;
    if (node !== undefined) entries.push({ ...(entry as JsonMember), node });
    else addSkip(entries, entry);
  });
  const plan: JsonGroup = { ...group, entries };
  plan.isWhole = entries.every((entry) => isMember(entry) && isWhole(entry.node));
  plan.size = groupSize(plan);
  return plan;
}

/** What an entry would take: all of it, and what tells a reader what it is about. */
interface Ask {
  size: number;
  telling: number;
  /** How special it is. */
  rank: number;
}

/**
 * Shares out the room. Special entries may take the larger part of it, the most special first; the others share what is left.
 * Among entries of one rank, what tells a reader most comes first.
 */
function specialFirst(asks: readonly Ask[], room: number): number[] {
  const shares = asks.map(() => 0);
  let left = room;
  const share = (rank: number, most: number) => {
    const same = asks.flatMap((ask, index) => (ask.rank === rank ? [index] : []));
    const ask = (index: number) => asks[index] as Ask;
    const whole = Math.floor(Math.max(0, most));
    const first = fairShares(
      same.map((index) => ask(index).telling),
      whole,
    );
    const rest = fairShares(
      same.map((index, at) => ask(index).size - (first[at] as number)),
      first.reduce((sum, given) => sum - given, whole),
    );
    same.forEach((index, at) => {
      shares[index] = (first[at] as number) + (rest[at] as number);
      left -= shares[index] as number;
    });
  };
  const usual = asks.reduce((sum, { size, rank }) => (rank === 0 ? sum + size : sum), 0);
  for (const rank of [...new Set(asks.map((ask) => ask.rank))].filter((each) => each > 0).sort((a, b) => b - a)) {
    const most = Math.max(room - usual, room * (rank > WANTED ? WANTED_SHARE : SPECIAL_SHARE));
    share(rank, most - (room - left));
  }
  share(0, left);
  return shares;
}

/** Counts the stretches of entries that are not shown. */
function countSkips(entries: readonly JsonEntry[], chosen: ReadonlySet<number>): number {
  return entries.filter((_, index) => !chosen.has(index) && (index === 0 || chosen.has(index - 1))).length;
}

/** Adds an entry that is not shown to those before it. */
export function addSkip(entries: JsonEntry[], entry: JsonEntry): void {
  const skip = isMember(entry) ? skipFor(entry) : entry;
  const last = entries.at(-1);
  if (last === undefined || isMember(last)) entries.push({ ...skip });
  else {
    last.count += skip.count;
    last.to = skip.to;
    last.toLine = skip.toLine;
  }
}

function skipFor({ index, key, node }: JsonMember): JsonSkip {
  return {
    index,
    count: 1,
    from: key?.from ?? node.from,
    to: node.to,
    line: key?.line ?? node.line,
    toLine: lastLine(node),
  };
}

function goneFor(node: JsonNode): JsonGone {
  if (node.kind === "gone") return node;
  const { from, to, line, words } = node;
  const place = { from, to, line, toLine: lastLine(node), words, size: GONE_SIZE };
  if (!isGroup(node)) return { kind: "gone", what: node.kind === "text" ? "string" : "value", count: 0, ...place };
  return { kind: "gone", what: node.kind === "object" ? "object" : "array", count: node.count, ...place };
}

/** The share of a shortened string that its start gets. */
const HEAD_SHARE = 0.6;
/** The longest escape: two surrogates. */
const LONGEST_ESCAPE = 12;
const BACKSLASH = 92;
const LETTER_U = 117;

/** Shortens a string to its two ends, in about `budget` bytes. It is never cut inside a character or an escape. */
export function shortenText(text: JsonText, budget: number): JsonText {
  const room = Math.max(0, budget - GONE_SIZE - 2);
  const head = text.head.slice(0, safeEnd(text.head, 1 + Math.floor(room * HEAD_SHARE)));
  const end = text.tail ?? text.head;
  const wanted = end.length - 1 - Math.ceil(room * (1 - HEAD_SHARE));
  const at = safeStart(end, Math.max(wanted, text.tail === null ? head.length + LONGEST_ESCAPE : LONGEST_ESCAPE));
  const tail = end.slice(at);
  return { ...text, head, tail, size: head.length + tail.length + GONE_SIZE };
}

/** Returns the last place up to `most` that is between characters. */
function safeEnd(bytes: Uint8Array, most: number): number {
  let at = 1;
  for (;;) {
    const next = at + unitLength(bytes, at);
    if (next > most || next >= bytes.length) return at;
    at = next;
  }
}

/** Counts the bytes of the character or escape at `at`. A pair of escapes that makes one character counts as one. */
function unitLength(bytes: Uint8Array, at: number): number {
  if (bytes[at] === BACKSLASH) {
    if (bytes[at + 1] !== LETTER_U) return 2;
    const isHigh = isHexDigit(bytes[at + 2], "d") && /[89ab]/i.test(String.fromCharCode(bytes[at + 3] ?? 0));
    return isHigh && bytes[at + 6] === BACKSLASH && bytes[at + 7] === LETTER_U ? LONGEST_ESCAPE : 6;
  }
  let length = 1;
  while (length < 4 && ((bytes[at + length] ?? 0) & 0xc0) === 0x80) length++;
  return length;
}

function isHexDigit(byte: number | undefined, digit: string): boolean {
  return byte !== undefined && String.fromCharCode(byte).toLowerCase() === digit;
}

/** Returns the first place from `least` on that is surely between characters, because no escape begins shortly before it. */
function safeStart(bytes: Uint8Array, least: number): number {
  const closing = bytes.length - 1;
  for (let at = least; at < closing; at++) {
    const isContinuation = ((bytes[at] as number) & 0xc0) === 0x80;
    if (!isContinuation && !bytes.subarray(Math.max(0, at - LONGEST_ESCAPE), at).includes(BACKSLASH)) return at;
  }
  return closing;
}

/** Notes on values that are not shown may take this share of an object's room; else only some keys are shown. */
const ALL_KEYS_SHARE = 0.6;
/** A text that tells what an object is about gets at least so many bytes. */
const LEAST_TELLING_BYTES = 120;

/** An element gets at least so many bytes and at most this share of the room. A few that can be read are better than many notes. */
const LEAST_ELEMENT_BYTES = 24;
const ELEMENT_SHARE = 0.25;
/** If each element can have so many bytes, all are shown, each in part. */
const ENOUGH_ELEMENT_BYTES = 200;
/** The share of the room that special entries may take, the share that they leave to others, and the least bytes of one. */
const SPECIAL_SHARE = 0.5;
const WANTED_SHARE = 0.75;
const OTHERS_SHARE = 0.2;
const LEAST_SPECIAL_BYTES = 160;
/** If this share of an object's members are objects, it is a map. */
const MAP_SHARE = 0.75;
/** So many elements are looked at to tell how large one is. */
const SAMPLE_COUNT = 64;

/** Chooses the entries of a group that are shown in `room` bytes. Returns their places in `entries`. */
function chooseEntries(group: JsonGroup, room: number): Set<number> {
  const places = group.entries.flatMap((entry, place) => (isMember(entry) ? [place] : []));
  const chosen = group.kind === "object" ? chooseMembers(group, places, room) : chooseElements(group, places, room);
  const last = group.entries.at(-1);
  // A value that is still being read is kept.
  if (last !== undefined && isMember(last) && "isOpen" in last.node && last.node.isOpen) {
    chosen.add(group.entries.length - 1);
  }
  return chosen;
}

/** Chooses all keys if each has room for a note. Otherwise chooses the keys that a call looks for, and others while they fit. */
function chooseMembers(group: JsonGroup, places: readonly number[], room: number): Set<number> {
  const member = (place: number) => group.entries[place] as JsonMember;
  const least = places.reduce((sum, place) => sum + leastSize(member(place)), 0);
  const skips = group.entries.length - places.length;
  if (least + skips * SKIP_SIZE <= room * ALL_KEYS_SHARE) return new Set(places);
  if (isMap(group, places)) return chooseElements(group, places, room);
  const chosen = new Set<number>();
  let left = room - SKIP_SIZE;
  const telling = new Map(places.map((place) => [place, tellingBytes(member(place))]));
  const told = (place: number) => telling.get(place) as number;
  const isKept = (place: number) => chosen.has(place) || place < 0 || place === group.entries.length;
  const take = (place: number) => {
    if (chosen.has(place)) return;
    const most = Math.max(leastSize(member(place)), Math.min(told(place), LEAST_TELLING_BYTES));
    // Between two keys that are shown it takes the place of a note; between two that are not it needs a second one.
    const notes = 1 - Number(isKept(place - 1)) - Number(isKept(place + 1));
    const size = Math.min(most, entrySize(member(place))) + notes * SKIP_SIZE;
    if (size > left) return;
    left -= size;
    chosen.add(place);
  };
  const rank = (place: number) => (told(place) > 0 ? TELLING : tellingOf(member(place)));
  const byTelling = places.toSorted((a, b) => rank(b) - rank(a) || told(b) - told(a) || a - b);
  for (const place of [...specialPlaces(group, places), ...byTelling, ...byTelling]) take(place);
  return chosen;
}

/** Chooses the first element, the most special one and the last, then other special ones, then those next to both ends. */
function chooseElements(group: JsonGroup, places: readonly number[], room: number): Set<number> {
  if (countElements(group, places, room) >= places.length) return new Set(places);
  const chosen = new Set<number>();
  const mostEach = Math.max(GONE_SIZE, room * ELEMENT_SHARE);
  let left = room - SKIP_SIZE;
  const take = (place: number | undefined, most: number, least: number): boolean => {
    if (place === undefined || chosen.has(place)) return true;
    const isBeside = chosen.has(place - 1) || chosen.has(place + 1);
    const entry = group.entries[place] as JsonMember;
    const size = Math.min(entrySize(entry), most) + (isBeside || chosen.size < 2 ? 0 : SKIP_SIZE);
    if (size > left - least) return false;
    left -= size;
    chosen.add(place);
    return true;
  };
  take(places[0], mostEach, 0);
  const special = specialPlaces(group, places);
  const each = Math.max(LEAST_SPECIAL_BYTES, (room * SPECIAL_SHARE) / Math.max(1, special.length) - SKIP_SIZE);
  // The most special element comes before the last one.
  take(special[0], each, 0);
  take(places.at(-1), mostEach, 0);
  for (const place of special) if (!take(place, each, room * OTHERS_SHARE)) break;
  for (let step = 1; step < places.length; step++) {
    // Two from the start for each one from the end.
    if (!take(places[step], mostEach, 0)) break;
    if (step % 2 === 0 && !take(places[places.length - 1 - step / 2], mostEach, 0)) break;
  }
  return chosen;
}

/** Returns the places of special entries, the most special first. */
function specialPlaces(group: JsonGroup, places: readonly number[]): number[] {
  const ranks = specialRanks(group);
  const rank = (place: number) => ranks.get(group.entries[place] as JsonEntry) ?? 0;
  return places.filter((place) => rank(place) > 0).sort((a, b) => rank(b) - rank(a) || a - b);
}

/** An entry of a higher rank is one that a call looks for. */
const WANTED = 2;
/** What a word is worth more if it is a whole key or value. */
const EXACT_GAIN = 0.5;
/** A wanted entry whose words are worth less than this share of the best one's is like the others. */
const LEAST_OF_BEST = 0.5;

/**
 * Ranks the special entries of a group: above 2 if a call looks for it, the more the rarer its words are in this group; 2
 * or 1 if it is unusual.
 */
function specialRanks({ entries, counts, count }: JsonGroup): Map<JsonEntry, number> {
  const ranks = new Map<JsonEntry, number>();
  if (counts !== null) counts.lines = count;
  let best = 0;
  for (const entry of entries) {
    if (!isMember(entry)) continue;
    const { words, exact = 0 } = entry.node;
    const weight = counts === null ? 0 : counts.weight(words) + EXACT_GAIN * counts.weight(exact);
    const rank = weight > 0 ? WANTED + weight : rarityOf(entry, count);
    if (rank > 0) ranks.set(entry, rank);
    best = Math.max(best, weight);
  }
  for (const [entry, rank] of ranks)
    if (rank > WANTED && rank - WANTED < LEAST_OF_BEST * best) ranks.set(entry, rarityOf(entry as JsonMember, count));
  return ranks;
}

function countElements(group: JsonGroup, places: readonly number[], room: number): number {
  const stride = Math.max(1, Math.floor(places.length / SAMPLE_COUNT));
  const sizes = places
    .filter((_, index) => index % stride === 0)
    .map((place) => entrySize(group.entries[place] as JsonMember))
    .sort((a, b) => a - b);
  const usual = sizes[sizes.length >> 1] ?? 0;
  const middle = places[places.length >> 1];
  const telling = middle === undefined ? 0 : tellingBytes(group.entries[middle] as JsonMember);
  const enough = telling === 0 ? ENOUGH_ELEMENT_BYTES : Math.min(telling, ENOUGH_ELEMENT_BYTES);
  const alike = Math.max(enough, Math.floor(room / places.length));
  const each = Math.max(LEAST_ELEMENT_BYTES, Math.min(usual, alike, Math.floor(room * ELEMENT_SHARE)));
  const fit = Math.floor(room / Math.max(1, usual < LEAST_ELEMENT_BYTES ? usual : each));
  if (fit >= places.length) return places.length;
  return Math.max(0, Math.floor((room - SKIP_SIZE) / Math.max(1, usual < LEAST_ELEMENT_BYTES ? usual : each)));
}

/** Returns true for an object with many members of which most are objects: it maps names to things of one sort. */
function isMap(group: JsonGroup, places: readonly number[]): boolean {
  if (group.count <= USUAL_COUNT) return false;
  const objects = places.filter((place) => {
    const { node } = group.entries[place] as JsonMember;
    return node.kind === "object" || (node.kind === "gone" && node.what === "object");
  });
  return objects.length >= places.length * MAP_SHARE;
}

/** Keys of what an object says of itself, and keys or values that only machines read. */
const TELLING_KEY =
  /^"(?:.*[._-])?(?:message|msg|title|name|summary|error|errors|reason|status|state|severity|level|conclusion|description|detail|details|text|label|cause|problem|warning|failure|exception|cve|rule|ruleid|id|type|code|category)"$/i;
const OPAQUE_KEY =
  /^"(?:.*[._-])?(?:uuid|guid|sha\d*|digest|hash|checksum|integrity|etag|signature|nonce|cursor|avatar|href|self|links?|_links|url|urls|uri)"$/i;
const OPAQUE_VALUE =
  /^"(?:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{20,}|(?:sha\d+[:-])?[0-9A-Za-z+/=_-]{32,}|https?:\/\/\S*)"$/;
const TELLING = 2;
const OPAQUE = 0;
/** A shorter value says nothing: `null` or an empty string. */
const LEAST_WORD_BYTES = 4;
const MOST_KEY_BYTES = 40;
const LOOK_BYTES = 120;

/** How much a member tells a reader: 2 if it says what its object is about, 0 if only a machine reads it, otherwise 1. */
function tellingOf({ key, node }: JsonMember): number {
  if (key === null || key.bytes.length > MOST_KEY_BYTES) return 1;
  const name = decode(key.bytes);
  if (OPAQUE_KEY.test(name)) return OPAQUE;
  if (node.kind === "text" && OPAQUE_VALUE.test(decode(node.head.subarray(0, LOOK_BYTES)))) return OPAQUE;
  return node.kind !== "gone" && !isGroup(node) && TELLING_KEY.test(name) ? TELLING : 1;
}

/** Keys that only a report has: what went wrong, or how bad that is. */
const FINDING_KEY =
  /^"(?:.*[._-])?(?:severity|level|error|errors|warning|warnings|failure|failures|exception|problem|cause|cve|cves|rule|ruleid|vulnerability|vulnerabilities|violations|findings)"$/i;

/** What it takes to show all that tells a reader what an entry is about, however deep that stands. */
interface Telling {
  bytes: number;
  /** It reports something. In records of another kind, such as those of a registry, any value may be the one that is needed. */
  isFinding: boolean;
}

/** What is known of closed groups, which are asked for at every try. */
const knownTelling = new WeakMap<JsonGroup, Telling>();

function tellingBytes(entry: JsonMember): number {
  const { bytes, isFinding } = readTelling(entry);
  return isFinding || !isGroup(entry.node) ? bytes : 0;
}

function readTelling(entry: JsonMember): Telling {
  const { key, node } = entry;
  const isFinding = key !== null && key.bytes.length <= MOST_KEY_BYTES && FINDING_KEY.test(decode(key.bytes));
  if (!isGroup(node))
    return { bytes: tellingOf(entry) === TELLING && node.size > LEAST_WORD_BYTES ? node.size : 0, isFinding };
  const known = knownTelling.get(node);
  if (known !== undefined) return known;
  const telling = { bytes: 0, isFinding };
  let others = 0;
  for (const inner of node.entries) {
    const own = isMember(inner) ? readTelling(inner) : { bytes: 0, isFinding: false };
    telling.isFinding ||= own.isFinding;
    if (own.bytes === 0) others = SKIP_SIZE;
    else telling.bytes += own.bytes + 1 + ((inner as JsonMember).key?.bytes.length ?? 0);
  }
  if (telling.bytes > 0) telling.bytes = Math.min(node.size, telling.bytes + others + 2);
  if (!node.isOpen) knownTelling.set(node, telling);
  return telling;
}

function leastSize(entry: JsonMember): number {
  const size = entrySize(entry);
  return Math.min(size, size - entry.node.size + GONE_SIZE);
}

/** An element that differs is unusual only after so many others. */
const USUAL_COUNT = 32;
/** If a list has more shapes than this, or a field more values, none of them is usual. */
const MAX_SHAPES = 8;
const MAX_VALUES = 16;
/** The most fields that are compared, and the most inside a field that is itself inside another. */
const MAX_FIELDS = 128;
const MAX_INNER_FIELDS = 32;
/** How deep fields are compared, and how many elements of a list inside a field are. */
const MAX_DEPTH = 4;
const MAX_INNER_ELEMENTS = 4;
/** A text that is longer is no word for a state. */
const MAX_WORD_BYTES = 24;
/** Elements of one sort are unusual if there are at most so many of them, and at most one among so many elements. */
const MAX_ALIKE = 16;
const FEW_SHARE = 20;
/** The most sorts that are remembered for one element. */
const MAX_SORTS = 8;
const NO_SORTS: readonly RareSort[] = [];

/** A field of the elements. `values` or `inner` is null if there are too many of them. */
interface Field {
  values: Map<string, RareSort> | null;
  inner: Map<string, Field> | null;
}

/** Finds the elements of a list that differ from the others: by their shape, or by a state that few of them have. */
export class RareElements {
  #count = 0;
  #fieldCount = 0;
  #index = 0;
  #sorts: RareSort[] = [];
  readonly #shapes: Field = newField();
  readonly #fields: Field = newField();

  /** Adds an element. Returns the sorts it belongs to that have few elements so far. */
  add(node: JsonNode, index: number): readonly RareSort[] {
    this.#index = index;
    this.#sorts = [];
    const isObject = isGroup(node) && node.kind === "object";
    this.#addValue(this.#shapes, isObject ? shapeOf(node) : node.kind, MAX_SHAPES);
    if (isObject) this.#addFields(this.#fields, node, 1);
    this.#count++;
    return this.#sorts.length === 0 ? NO_SORTS : this.#sorts;
  }

  #addFields(field: Field, group: JsonGroup, depth: number): void {
    let elements = 0;
    for (const entry of group.entries) {
      if (!isMember(entry)) continue;
      if (entry.key === null && ++elements > MAX_INNER_ELEMENTS) return;
      if (entry.key !== null && entry.key.bytes.length > MAX_WORD_BYTES) continue;
      const inner = this.#innerField(field, entry.key === null ? "" : decode(entry.key.bytes), depth);
      if (inner === null) continue;
      if (isGroup(entry.node)) {
        if (depth < MAX_DEPTH) this.#addFields(inner, entry.node, depth + 1);
        continue;
      }
      const word = wordOf(entry.node);
      if (word !== null) this.#addValue(inner, word, MAX_VALUES);
    }
  }

  #innerField(field: Field, name: string, depth: number): Field | null {
    const known = field.inner?.get(name);
    if (known !== undefined || field.inner === null) return known ?? null;
    if (depth > 1 && field.inner.size >= MAX_INNER_FIELDS) {
      // Its keys are names, not fields.
      giveUp(field);
      return null;
    }
    if (this.#fieldCount >= MAX_FIELDS) return null;
    this.#fieldCount++;
    const inner = newField();
    field.inner.set(name, inner);
    return inner;
  }

  #addValue(field: Field, word: string, most: number): void {
    if (field.values === null) return;
    let sort = field.values.get(word);
    if (sort === undefined) {
      sort = { count: 0, first: this.#index, isLate: this.#count >= USUAL_COUNT };
      field.values.set(word, sort);
      if (field.values.size > most) {
        giveUp(field);
        return;
      }
    }
    sort.count++;
    if (sort.count <= MAX_ALIKE && this.#sorts.length < MAX_SORTS) this.#sorts.push(sort);
  }
}

/** Says how unusual an element is among `total`: 2 for the first of its sort, 1 for another of a sort with few, otherwise 0. */
function rarityOf({ index, sorts }: JsonMember, total: number): 0 | 1 | 2 {
  let rarity: 0 | 1 = 0;
  for (const { count, first, isLate } of sorts) {
    if (count === Number.POSITIVE_INFINITY) continue;
    const isFew = total > USUAL_COUNT && count <= Math.min(MAX_ALIKE, total / FEW_SHARE);
    if (first === index && (isLate || isFew)) return 2;
    if (isFew) rarity = 1;
  }
  return rarity;
}

function newField(): Field {
  return { values: new Map(), inner: new Map() };
}

/** Gives up a field that no longer tells elements apart. */
function giveUp(field: Field): void {
  for (const sort of field.values?.values() ?? []) sort.count = Number.POSITIVE_INFINITY;
  for (const inner of field.inner?.values() ?? []) giveUp(inner);
  field.values = null;
  field.inner = null;
}

/** Returns a word that is the same for objects with the same keys, in any order. */
function shapeOf({ entries }: JsonGroup): string {
  let shape = entries.length;
  for (const entry of entries) if (isMember(entry) && entry.key !== null) shape = (shape + hashOf(entry.key.bytes)) | 0;
  return `${shape}`;
}

function hashOf(bytes: Uint8Array): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < bytes.length; at++) hash = Math.imul(hash ^ (bytes[at] as number), 0x01000193);
  return hash;
}

function wordOf(node: JsonNode): string | null {
  if (node.kind === "scalar" && node.bytes.length <= MAX_WORD_BYTES) return decode(node.bytes);
  if (node.kind === "text" && node.tail === null && node.head.length <= MAX_WORD_BYTES) return decode(node.head);
  return null;
}

/** The share of the room for special entries that one of them may take. A larger one is made smaller. */
const ONE_SPECIAL_SHARE = 0.25;

/** Drops the middle of a group. Its first and last entries stay, `most` bytes each, and `most` bytes of special ones. */
export function trimEntries(group: JsonGroup, most: number): number {
  const { entries } = group;
  const costs = entries.map((entry) => (isMember(entry) ? heldBytes(entry.node) : 0));
  const first = Math.max(1, countWithin(costs, most));
  const last = Math.max(1, countWithin(costs.toReversed(), most));
  const kept: JsonEntry[] = entries.slice(0, first);
  const special = specialEntries(group, costs, first, entries.length - last, most);
  let freed = 0;
  for (let at = first; at < entries.length - last; at++) {
    const entry = entries[at] as JsonEntry;
    const shown = special.get(at);
    freed += (isMember(entry) ? memberBytes(entry) : 0) - (shown === undefined ? 0 : memberBytes(shown));
    if (shown === undefined) addSkip(kept, entry);
    else kept.push(shown);
  }
  if (freed === 0) return 0;
  kept.push(...entries.slice(Math.max(first, entries.length - last)));
  group.entries = kept;
  return freed;
}

/** Returns the special entries from `first` to before `end` that fit into `most` bytes, by their place. */
function specialEntries(
  group: JsonGroup,
  costs: readonly number[],
  first: number,
  end: number,
  most: number,
): Map<number, JsonMember> {
  const ranked: { at: number; entry: JsonMember; rank: number }[] = [];
  const ranks = specialRanks(group);
  for (let at = first; at < end; at++) {
    const entry = group.entries[at] as JsonEntry;
    const rank = ranks.get(entry) ?? 0;
    if (rank > 0) ranked.push({ at, entry: entry as JsonMember, rank });
  }
  const special = new Map<number, JsonMember>();
  let left = most;
  for (const { at, entry } of ranked.sort((a, b) => b.rank - a.rank || a.at - b.at)) {
    const isLarge = (costs[at] as number) > most * ONE_SPECIAL_SHARE;
    const held = isLarge ? { ...entry, node: planJson(entry.node, most * ONE_SPECIAL_SHARE) } : entry;
    const cost = heldBytes(held.node);
    if (cost > left) continue;
    left -= cost;
    special.set(at, held);
  }
  return special;
}

function countWithin(costs: readonly number[], most: number): number {
  let left = most;
  const over = costs.findIndex((cost) => {
    left -= cost;
    return left < 0;
  });
  return over === -1 ? costs.length : over;
}
