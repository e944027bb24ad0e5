/** One row of the direction of imports: which rooms stand here and what they may reach for. */
export interface Layer {
  level: number;
  rooms: string[];
  /** Rooms that may be imported in any way. */
  may: string[];
  /** Rooms that may be imported by `import()` or for their types, so that nobody pays for what is not used. */
  onUse?: string[];
  node: boolean;
  /** "on use": only by `import()` or for types. */
  packages: "none" | "on use" | "any";
  note?: string;
}

const GROUND = ["contract", "errors", "values", "deadline", "load-package"];
const FIRST = ["measure", "policy", "mark", "record", "spill", "redact", "fold", "wire"];
const CLAMP = ["clamp"];
const PLANS = ["display", "prune", "guard", "cap"];
const RECOVER = ["recover"];
const MEETING = [
  "admit",
  "histories",
  "recall",
  "prepare",
  "call",
  "exchange",
  "summarize",
  "spillway",
  "stages",
  "overflow",
];
const LOADED = ["storage", "drivers", "config"];
const ENTRIES = ["index", "open-spillway", "entrypoints", "serve"];

/**
 * The direction of imports. Rooms are folders of src/ (of stages/ for a stage) or its root files; within a room imports
 * are free, except that each folder of entrypoints/ is a room of its own. Tests may import anything.
 */
export const LAYERS: Layer[] = [
  { level: 0, rooms: GROUND, may: [], node: false, packages: "none", note: "contract is types only" },
  { level: 1, rooms: FIRST, may: GROUND, node: false, packages: "none" },
  { level: 2, rooms: CLAMP, may: [...GROUND, ...FIRST], node: false, packages: "none" },
  {
    level: 3,
    rooms: PLANS,
    may: [...GROUND, ...FIRST, ...CLAMP],
    node: false,
    packages: "none",
    note: "plans; a trim is a clamp with smaller limits",
  },
  {
    level: 4,
    rooms: RECOVER,
    may: [...GROUND, ...FIRST, ...CLAMP, ...PLANS],
    node: false,
    packages: "none",
    note: "a rung calls an existing stage",
  },
  {
    level: 5,
    rooms: ["admit"],
    may: [...GROUND, ...FIRST, ...CLAMP, ...PLANS, ...RECOVER],
    node: false,
    packages: "none",
    note: "the stages an output passes, in order; stores are handed in",
  },
  {
    level: 5,
    rooms: ["histories"],
    may: [...GROUND, ...FIRST, ...CLAMP, ...PLANS, ...RECOVER, "admit"],
    node: false,
    packages: "none",
    note: "messages on their way into a transcript; stores are handed in",
  },
  {
    level: 5,
    rooms: ["recall"],
    may: [...GROUND, ...FIRST, ...CLAMP, ...PLANS, ...RECOVER],
    node: false,
    packages: "none",
    note: "reads back and finds; store and searcher are handed in",
  },
  {
    level: 5,
    rooms: ["prepare"],
    may: [...GROUND, ...FIRST, ...CLAMP, ...PLANS, ...RECOVER, "admit"],
    node: false,
    packages: "none",
    note: "a request through prune, in order; store, ledger, clock and hasher are handed in",
  },
  {
    level: 5,
    rooms: ["call"],
    may: [...GROUND, ...FIRST, ...CLAMP, ...PLANS, ...RECOVER, "admit", "prepare"],
    node: false,
    packages: "none",
    note: "a request sent, and made smaller where it is refused; store, clock and sender are handed in",
  },
  {
    level: 5,
    rooms: ["exchange"],
    may: [...GROUND, ...FIRST, ...CLAMP, ...PLANS, ...RECOVER, "recall"],
    onUse: ["admit", "call"],
    node: true,
    packages: "none",
    note: "one HTTP exchange with a model provider; call, recorder and sender are handed in",
  },
  {
    level: 5,
    rooms: ["summarize"],
    may: [...GROUND, ...FIRST, ...CLAMP, ...PLANS, ...RECOVER, "admit"],
    node: false,
    packages: "none",
    note: "summaries of an output or a conversation; model and store are handed in",
  },
  {
    level: 5,
    rooms: ["stages"],
    may: [...GROUND, ...FIRST, ...CLAMP, ...PLANS, ...RECOVER, "admit"],
    node: false,
    packages: "none",
    note: "what a browser gets",
  },
  {
    level: 5,
    rooms: ["overflow"],
    may: [...GROUND, ...RECOVER],
    node: false,
    packages: "none",
    note: "the verdict by itself",
  },
  {
    level: 5,
    rooms: ["spillway"],
    may: [
      ...GROUND,
      ...FIRST,
      ...CLAMP,
      ...PLANS,
      ...RECOVER,
      "admit",
      "histories",
      "recall",
      "prepare",
      "call",
      "exchange",
      "summarize",
    ],
    node: true,
    packages: "none",
    note: "stores and drivers are handed in through ports",
  },
  { level: 6, rooms: ["storage", "drivers"], may: [...GROUND, "policy", "measure"], node: true, packages: "any" },
  {
    level: 6,
    rooms: ["config"],
    may: [...GROUND, "policy"],
    onUse: ["redact", "clamp"],
    node: true,
    packages: "any",
    note: "a rule of one's own that cannot be used is said with its place in the file",
  },
  {
    level: 7,
    rooms: ["open-spillway"],
    may: [...GROUND, "record", "admit", "spillway"],
    onUse: [...LOADED, "recover", "histories"],
    node: true,
    packages: "on use",
    note: "the defaults",
  },
  {
    level: 7,
    rooms: ["index", "entrypoints"],
    may: [...GROUND, "wire", "recall", "exchange", "spillway", "open-spillway"],
    onUse: [...LOADED, "record", "admit", "histories", "prepare", "call", "summarize"],
    node: true,
    packages: "on use",
  },
  {
    level: 7,
    rooms: ["serve"],
    may: [...GROUND, "policy", "wire", "recall", "exchange", "spillway", "open-spillway"],
    onUse: ["storage", "drivers"],
    node: true,
    packages: "any",
    note: "the gateway and the API; loaded by its command only",
  },
  {
    level: 7,
    rooms: ["extend"],
    may: [...GROUND, "measure", "histories", "storage"],
    onUse: ["mark", "record", "redact", "recover", "exchange", "call"],
    node: true,
    packages: "on use",
    note: "stores, ledgers and counters to hand in; the folder's is loaded on use",
  },
  {
    level: 8,
    rooms: ["testing"],
    may: [...GROUND, ...FIRST, ...CLAMP, ...PLANS, ...RECOVER, ...MEETING, ...LOADED, ...ENTRIES],
    node: true,
    packages: "any",
    note: "suites that outsiders run: fast-check is theirs, their test runner is handed in",
  },
  {
    level: 8,
    rooms: ["cli"],
    may: [...GROUND, ...FIRST, ...CLAMP, ...PLANS, ...RECOVER, ...MEETING, ...ENTRIES],
    onUse: [...LOADED, "testing"],
    node: true,
    packages: "any",
    note: "a command, so it starts fast",
  },
];

/** The table as ARCHITECTURE.md shows it. */
export function printLayers(layers: Layer[]): string {
  const rows = layers.map((layer) => {
    const outside = [
      layer.node ? "Node" : "",
      { none: "", "on use": "packages by `import()`", any: "packages" }[layer.packages],
    ];
    return [
      layer.level,
      layer.rooms.join(" "),
      reach(layer, layers) || "nothing",
      layer.onUse?.join(" ") ?? "",
      outside.filter(Boolean).join(", ") || "nothing",
      layer.note ?? "",
    ];
  });
  const head = ["level", "rooms", "may import", "only by `import()` or as types", "from outside", "note"];
  return [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

// Whole levels from 0 up are said as a range; the rest by name.
function reach(layer: Layer, layers: Layer[]): string {
  const left = new Set(layer.may);
  let top = -1;
  for (let level = 0; level < layer.level; level++) {
    const rooms = layers.filter((other) => other.level === level).flatMap((other) => other.rooms);
    if (!rooms.every((room) => left.has(room))) break;
    for (const room of rooms) left.delete(room);
    top = level;
  }
  const range = top < 0 ? [] : [top === 0 ? "0" : `0-${top}`];
  return [...range, ...left].join(" ");
}
