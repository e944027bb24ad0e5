/** Characters that tokenizers treat alike, by UTF-16 unit. */
interface TokenClass {
  name: string;
  /** Classes with the same run make up one run together and share its places; by default a class is a run of its own. */
  run?: string;
  /** How many places of a run have a weight of their own; later ones cost as the last. */
  places: number;
  /** First and last unit of each range. */
  ranges: [from: number, to: number][];
}

const of = (characters: string): [number, number][] =>
  Array.from(characters, (character) => [character.charCodeAt(0), character.charCodeAt(0)]);

/** The order is the order of the weights: a change here needs `bench/learn-token-weights.mjs` to run again. */
export const tokenClasses: readonly TokenClass[] = [
  {
    name: "control",
    places: 1,
    ranges: [
      [0x00, 0x1f],
      [0x7f, 0x9f],
    ],
  },
  { name: "space", places: 10, ranges: of(" ") },
  { name: "newline", places: 4, ranges: of("\n") },
  { name: "tab", places: 4, ranges: of("\t") },
  { name: "return", places: 2, ranges: of("\r") },
  { name: "vowel", run: "lower", places: 16, ranges: of("aeiou") },
  { name: "consonant", run: "lower", places: 16, ranges: of("tnsrldcmph") },
  { name: "rare consonant", run: "lower", places: 16, ranges: of("bfgkvwy") },
  { name: "rarest consonant", run: "lower", places: 16, ranges: of("jqxz") },
  { name: "upper", places: 10, ranges: [[0x41, 0x5a]] },
  { name: "digit", places: 10, ranges: [[0x30, 0x39]] },
  { name: "dot", places: 4, ranges: of(".") },
  { name: "underscore", places: 4, ranges: of("_") },
  { name: "hyphen", places: 6, ranges: of("-") },
  { name: "slash", places: 3, ranges: of("/\\") },
  { name: "rule", places: 6, ranges: of("=*#~+") },
  { name: "quote", places: 3, ranges: of("\"'`") },
  { name: "open", places: 3, ranges: of("([{<") },
  { name: "close", places: 3, ranges: of(")]}>") },
  { name: "comma", places: 3, ranges: of(",;:") },
  { name: "mark", places: 3, ranges: of("!?@$%^&|") },
  {
    name: "latin",
    places: 2,
    ranges: [
      [0xc0, 0x24f],
      [0x1e00, 0x1eff],
    ],
  },
  {
    name: "greek",
    places: 2,
    ranges: [
      [0x370, 0x3ff],
      [0x1f00, 0x1fff],
    ],
  },
  { name: "cyrillic", places: 4, ranges: [[0x400, 0x52f]] },
  { name: "hebrew", places: 2, ranges: [[0x590, 0x5ff]] },
  {
    name: "arabic",
    places: 2,
    ranges: [
      [0x600, 0x6ff],
      [0x750, 0x77f],
    ],
  },
  { name: "devanagari", places: 2, ranges: [[0x900, 0x97f]] },
  { name: "indic", places: 2, ranges: [[0x980, 0xdff]] },
  { name: "thai", places: 2, ranges: [[0xe00, 0xe7f]] },
  { name: "kana", places: 2, ranges: [[0x3040, 0x30ff]] },
  { name: "han", places: 2, ranges: [[0x4e00, 0x9fff]] },
  { name: "hangul", places: 2, ranges: [[0xac00, 0xd7a3]] },
  {
    name: "combining",
    places: 1,
    ranges: [
      [0x300, 0x36f],
      [0x20d0, 0x20ff],
      [0xfe00, 0xfe0f],
      [0x200b, 0x200d],
    ],
  },
  {
    name: "punctuation",
    places: 2,
    ranges: [
      [0xa0, 0xbf],
      [0x2010, 0x2027],
      [0x2030, 0x205e],
      [0x3000, 0x303f],
      [0xff01, 0xff0f],
    ],
  },
  { name: "symbol", places: 3, ranges: [[0x2100, 0x2bff]] },
  { name: "emoji", places: 1, ranges: [[0xd83c, 0xd83e]] },
  {
    name: "astral",
    places: 1,
    ranges: [
      [0xd800, 0xd83b],
      [0xd83f, 0xdbff],
    ],
  },
  { name: "replacement", places: 2, ranges: [[0xfffd, 0xfffd]] },
  { name: "private", places: 1, ranges: [[0xe000, 0xf8ff]] },
  { name: "low", places: 1, ranges: [[0xdc00, 0xdfff]] },
  { name: "other", places: 1, ranges: [] },
];

/** Classes before this one are ASCII; where two runs join, the others count as one. */
export const firstWideClass: number = tokenClasses.findIndex(({ name }) => name === "latin");

/** The name of the run that units of this class make up. */
export const runOf = ({ name, run }: TokenClass): string => run ?? name;

/** The class of every UTF-16 unit: an index into `tokenClasses`. */
export function classifyUnits(): Uint8Array {
  const classes = new Uint8Array(0x10000).fill(tokenClasses.length - 1);
  tokenClasses.forEach(({ ranges }, index) => {
    for (const [from, to] of ranges) classes.fill(index, from, to + 1);
  });
  return classes;
}
