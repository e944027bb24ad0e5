import type { Extent } from "../../../contract/size.ts";
import type { Focus } from "../../../contract/strategy.ts";
import { WordCounts } from "../focus/word-counts.ts";
import {
  GONE_SIZE,
  groupSize,
  heldBytes,
  isGroup,
  isMember,
  isWhole,
  type JsonGroup,
  type JsonMember,
  type JsonNode,
  type JsonText,
  memberBytes,
} from "./json-node.ts";
import type { JsonToken } from "./lex-json.ts";
import { JsonLexer, type JsonListener } from "./lex-json.ts";
import { addSkip, planJson, RareElements, shortenText, trimEntries } from "./plan-json.ts";
import { SkimmedEntries } from "./skim-json.ts";

/** A value that is deeper than this is held as one that is not shown. */
const MAX_DEPTH = 200;
/** Members after which an object may be a map. */
const LEAST_MAP_COUNT = 8;
const NOTHING = new Uint8Array(0);

/**
 * Holds a document as a tree of bounded size. Once the tree takes twice `mostBytes`, it is planned down to `mostBytes`, in
 * the way in which it would be shown.
 */
export class JsonBuilder implements JsonListener {
  root: JsonGroup;
  /** What was passed over and is not held. */
  readonly unscanned: Extent = { bytes: 0, lines: 0 };
  readonly #mostBytes: number;
  readonly #focus: Focus | undefined;
  #stack: JsonGroup[];
  #rares: (RareElements | null)[] = [new RareElements()];
  #key: JsonMember["key"] = null;
  #keyWords = 0;
  #exactKey = 0;
  /** The key is longer than what is held of it, so it cannot be shown. */
  #keyIsLost = false;
  /** Groups open below the deepest one that is held, and the values in them. */
  #deep = 0;
  #heldBytes = 0;
  /** For each open group: what was held outside it, and whether it was trimmed. */
  #levels: Level[] = [{ outside: 0, isLong: false }];
  readonly #scanBytes: number;

  /** Past `scanBytes` of the source the entries of long groups are passed over. */
  constructor(mostBytes: number, scanBytes: number, focus: Focus | undefined) {
    this.#mostBytes = mostBytes;
    this.#scanBytes = scanBytes;
    this.#focus = focus;
    this.root = newGroup("lines", 0, 1);
    this.#stack = [this.root];
  }

  open(kind: "array" | "object", at: number, line: number): void {
    if (this.#deep > 0 || this.#stack.length > MAX_DEPTH || this.#keyIsLost) {
      if (this.#deep++ === 0) this.#add(gone(kind, at, at, line));
      return;
    }
    const group = newGroup(kind, at, line);
    this.#levels.push({ outside: this.#heldBytes, isLong: false });
    this.#add(group);
    this.#stack.push(group);
    this.#rares.push(kind === "array" ? new RareElements() : null);
  }

  close(to: number, line: number): void {
    if (this.#deep > 0) {
      this.#deep--;
      const last = this.#top.entries.at(-1);
      const gone = last !== undefined && isMember(last) ? last.node : last;
      if (gone !== undefined && "toLine" in gone) Object.assign(gone, { to, toLine: line });
      return;
    }
    const group = this.#stack.pop() as JsonGroup;
    this.#rares.pop();
    const level = this.#levels.pop() as Level;
    // A group that was trimmed is trimmed once more, so that the result does not depend on when it was trimmed before.
    if (level.isLong) this.#trim(group, level);
    group.isOpen = false;
    group.to = to;
    group.toLine = line;
    group.isWhole = group.entries.every((entry) => isMember(entry) && isWhole(entry.node));
    group.size = groupSize(group);
    this.#finished(group);
  }

  key(token: JsonToken): void {
    if (this.#deep > 0) return;
    const whole = token.whole();
    this.#key = { bytes: whole ?? NOTHING, from: token.from, line: token.line };
    this.#keyIsLost = whole === null;
    const name = this.#key.bytes.subarray(1, -1);
    this.#keyWords = this.#find(name);
    this.#exactKey = this.#exactIn(name, this.#keyWords);
  }

  text(token: JsonToken): void {
    if (this.#deep > 0) return;
    const whole = token.whole();
    const { head, tail } = whole === null ? token.ends() : { head: whole, tail: null };
    const words = this.#find(head) | (tail === null ? 0 : this.#find(tail));
    const exact = tail === null ? this.#exactIn(head.subarray(1, -1), words) : 0;
    const node: JsonText = { kind: "text", head, tail, ...placed(token), words, exact };
    // The ends were cut at any byte. This cuts them between characters.
    this.#addLeaf(tail === null ? node : shortenText(node, head.length + tail.length));
  }

  scalar(token: JsonToken): void {
    if (this.#deep > 0) return;
    const bytes = token.whole() as Uint8Array;
    this.#addLeaf({ kind: "scalar", bytes, ...placed(token), words: this.#find(bytes) });
  }

  get #top(): JsonGroup {
    return this.#stack.at(-1) as JsonGroup;
  }

  #find(bytes: Uint8Array): number {
    return this.#focus?.find(bytes) ?? 0;
  }

  /** The words that were found in a text and are all of it. */
  #exactIn(text: Uint8Array, words: number): number {
    if (words === 0) return 0;
    const texts = this.#focus?.texts ?? [];
    return texts.reduce((bits, word, at) => (word.length === text.length ? bits | (words & (1 << at)) : bits), 0);
  }

  #addLeaf(node: JsonNode): void {
    this.#add(node);
    this.#finished(node);
  }

  #add(node: JsonNode): void {
    const group = this.#top;
    node.words |= this.#keyWords;
    if (this.#exactKey !== 0) node.exact = (node.exact ?? 0) | this.#exactKey;
    const member: JsonMember = { index: group.count++, key: this.#key, node, sorts: [] };
    if (this.#keyIsLost) addSkip(group.entries, member);
    else {
      group.entries.push(member);
      this.#heldBytes += memberBytes(member);
    }
    this.#key = null;
    this.#keyWords = 0;
    this.#exactKey = 0;
    this.#keyIsLost = false;
  }

  /** Takes note that a value is complete. If the tree has grown too large, it is made smaller. */
  #finished(node: JsonNode): void {
    const parent = this.#top;
    this.#countWords(parent, node);
    const member = parent.entries.at(-1);
    const rares = this.#raresFor(parent, node);
    if (rares !== null && member !== undefined && isMember(member)) member.sorts = rares.add(node, member.index);
    const level = this.#levels.at(-1) as Level;
    if (this.#heldBytes - level.outside > this.#mostBytes / 2) this.#trim(parent, level);
    if (this.#heldBytes > this.#mostBytes * 2) this.#shrink();
  }

  #countWords(group: JsonGroup, { words, exact = 0 }: JsonNode): void {
    if (words === 0 || this.#focus === undefined) return;
    group.words |= words;
    if (exact !== 0) group.exact = (group.exact ?? 0) | exact;
    group.counts ??= new WordCounts(this.#focus, true);
    group.counts.add(words);
  }

  /** If an object is a map from names to objects, its members are compared as elements are. */
  #raresFor(parent: JsonGroup, node: JsonNode): RareElements | null {
    const last = this.#rares.length - 1;
    const rares = this.#rares[last] ?? null;
    if (rares !== null || parent.count < LEAST_MAP_COUNT || node.kind !== "object") return rares;
    this.#rares[last] = new RareElements();
    return this.#rares[last];
  }

  /** A group that has grown long keeps its first, last and special entries. */
  #trim(group: JsonGroup, level: Level): void {
    const freed = trimEntries(group, this.#mostBytes / 8);
    this.#heldBytes -= freed;
    if (freed > 0) level.isLong = true;
    // It is trimmed again only after an eighth of `mostBytes` more has come.
    const stayed = freed === 0 ? 0 : (this.#mostBytes * 3) / 8;
    level.outside = Math.max(level.outside, this.#heldBytes - stayed);
  }

  skim(at: number, line: number, depth: number): SkimmedEntries | null {
    // Only the innermost group is asked. A long group further out is asked at its own next entry.
    if (at < this.#scanBytes || depth !== this.#stack.length - 1 || !this.#levels.at(-1)?.isLong) return null;
    return new SkimmedEntries(this.#mostBytes >> 2, at, line);
  }

  skimEnd(entries: SkimmedEntries, at: number, line: number): boolean {
    const group = this.#top;
    // Outside any group each entry has its border behind it; within one the last has none.
    const count = entries.count + (group.kind === "lines" ? 0 : 1);
    const held = entries.held();
    const skipped = held?.count ?? count;
    const to = held?.at ?? at;
    if (skipped > 0) {
      const skip = {
        index: group.count,
        count: skipped,
        from: entries.from,
        to,
        line: entries.line,
        toLine: held?.line ?? line,
      };
      addSkip(group.entries, skip);
      this.unscanned.bytes += to - entries.from;
      this.unscanned.lines += skip.toLine - entries.line;
    }
    const index = group.count + skipped;
    group.count += count;
    if (held === null || skipped === count) return true;
    const members = this.#read(group.kind, held.bytes, held.at, held.line);
    if (members === null || members.length !== count - skipped) return false;
    for (const member of members) {
      const at = index + member.index;
      const sorts = this.#raresFor(group, member.node)?.add(member.node, at) ?? [];
      group.entries.push({ ...member, index: at, sorts });
      this.#countWords(group, member.node);
    }
    this.#heldBytes += members.reduce((sum, member) => sum + memberBytes(member), 0);
    return true;
  }

  /** Reads entries from held bytes. Returns null if they are not right. */
  #read(kind: JsonGroup["kind"], bytes: Uint8Array, at: number, line: number): JsonMember[] | null {
    const builder = new JsonBuilder(Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, this.#focus);
    const lexer = new JsonLexer(builder, this.#mostBytes >> 3, kind === "lines" ? at : at - 1, line);
    // The comma before the first entry, where there is one, gives way to the group's bracket.
    if (kind !== "lines") lexer.add(Uint8Array.of(kind === "object" ? 0x7b : 0x5b));
    lexer.add(kind !== "lines" && bytes[0] === 0x2c ? Uint8Array.of(32, ...bytes.subarray(1)) : bytes);
    lexer.add(Uint8Array.of(32));
    if (lexer.failed) return null;
    const [first] = builder.root.entries;
    const group = kind === "lines" ? builder.root : first !== undefined && isMember(first) ? first.node : null;
    return group !== null && isGroup(group) && group.entries.every(isMember) ? (group.entries as JsonMember[]) : null;
  }

  #shrink(): void {
    // Small values take more memory than text, so the tree is planned smaller until its memory is small enough.
    for (let budget = this.#mostBytes; this.#heldBytes > this.#mostBytes && budget > 0; budget >>= 1) {
      this.root = planJson(this.root, budget) as JsonGroup;
      this.#heldBytes = heldBytes(this.root);
    }
    const stack = [this.root];
    while (stack.length < this.#stack.length) {
      const last = stack.at(-1)?.entries.at(-1);
      stack.push((last as JsonMember).node as JsonGroup);
    }
    this.#stack = stack;
    this.#levels.forEach((level, depth) => {
      level.outside = this.#heldBytes - heldBytes(stack[depth] as JsonGroup);
    });
  }
}

interface Level {
  outside: number;
  isLong: boolean;
}

function newGroup(kind: JsonGroup["kind"], at: number, line: number): JsonGroup {
  return {
    kind,
    entries: [],
    count: 0,
    from: at,
    to: at,
    line,
    toLine: line,
    size: 2,
    isOpen: true,
    isWhole: true,
    words: 0,
    counts: null,
  };
}

/** A value that is not shown. */
function gone(what: "array" | "object", from: number, to: number, line: number): JsonNode {
  return { kind: "gone", what, count: 0, from, to, line, toLine: line, size: GONE_SIZE, words: 0 };
}

function placed({ from, length, line }: JsonToken) {
  return { from, to: from + length, line, size: length };
}
