// What a generated project consists of: parts, tests, and what its programs say while nothing is wrong. The same seed
// gives the same plan, with or without faults.

const NOUNS =
  "invoice customer order basket voucher refund parcel address ledger payment session profile catalog shipment discount account".split(
    " ",
  );
const DEEDS = [
  "adds up",
  "rejects empty input",
  "handles a network error",
  "fails gracefully without a name",
  "retries after a timeout",
  "keeps its order",
  "throws on a bad value",
  "parses a date",
  "warns about old data",
  "is not confused by failures",
  "survives an exception in a listener",
  "writes what it read",
  "reports missing fields",
  "logs errors once",
];
/** What programs log in passing runs too: some of it sounds like a failure and is none. */
const CHATTER = [
  (pick) => `worker ${pick(90)} ready, 0 errors`,
  (pick) => `INFO  [pool-${pick(9)}] order-service - processed ${pick(900)} orders in ${pick(80)} ms`,
  (pick) => `DEBUG cache.lookup key=${pick(9999)} hit=${pick(2) === 0} size=${pick(400)}`,
  (pick) => `WARN  retrying request ${pick(9999)} (1/3): connection reset by peer`,
  (pick) => `ERROR simulated failure for listener ${pick(99)} (this is expected in the test)`,
  (pick) => `GET /api/v1/items/${pick(9999)} 200 ${pick(90)}ms`,
  (pick) => `warning: field 'legacy_id' of record ${pick(9999)} is deprecated, use 'id'`,
  (pick) => `connecting to db://localhost:5432/app (attempt ${1 + pick(2)})`,
  (pick) => `loaded ${pick(900)} rows from fixtures/${pick(99)}.json`,
  (pick) => `metrics: p50=${pick(9)}ms p99=${pick(99)}ms errors=0 timeouts=0`,
];

export const range = (count) => Array.from({ length: count }, (_, index) => index);
export const capital = (text) => text.replace(/(?:^|[ _])(\w)/g, (_, letter) => letter.toUpperCase());
export const snake = (text) => text.replaceAll(" ", "_");
export const chatter = (pick, lines) => range(lines).map(() => CHATTER[pick(CHATTER.length)](pick));

/** Ways in which a project differs from seed to seed: how large it is, where its faults are, and whether its tool says little. */
const VARIANTS = [
  { size: 1, place: "anywhere", isQuiet: false },
  { size: 0.4, place: "start", isQuiet: true },
  { size: 2.5, place: "end", isQuiet: false },
  { size: 2.5, place: "start", isQuiet: true },
  { size: 0.4, place: "end", isQuiet: false },
];
export const variantOf = (seed) => VARIANTS[seed % VARIANTS.length];

const LEAST_PARTS = 8;
/** How many there are in a project of this size, and from which to which a fault may be: never the first or the last. */
function planPlaces({ size, place }, usual) {
  const count = Math.max(LEAST_PARTS, Math.round(usual * size));
  const fifth = Math.ceil(count / 5);
  const first = place === "end" ? count - 1 - fifth : 1;
  return { count, first, room: place === "anywhere" ? count - 2 : fifth };
}

/** Names of parts, and which of them get the fault: often one, at times several. */
export function planParts(pick, fault, usual) {
  const { count, first, room } = planPlaces(pick.variant, usual);
  const names = range(count).map((index) => `${NOUNS[(index + pick(3)) % NOUNS.length]}${index}`);
  const wanted = Math.min(room, [1, 1, 3, 6][pick(4)]);
  const wrong = new Set();
  while (wrong.size < wanted) wrong.add(first + pick(room));
  const isWrong = (index) => fault !== null && wrong.has(index);
  return { names, isWrong, wrong: fault === null ? [] : names.filter((_, index) => wrong.has(index)) };
}

/** Suites of tests. A test has a name, what it logs, and two numbers that nothing else prints; a wrong one has the fault. */
export function planTests(pick, fault, { suites = 16, tests = 10, talk = 3 } = {}) {
  const { count, first, room } = planPlaces(pick.variant, suites);
  const wanted = [1, 1, 3, 7][pick(4)];
  const places = new Set();
  while (places.size < wanted) places.add(first * tests + pick(room * tests));
  const all = range(count).map((suite) => {
    const name = `${NOUNS[(suite + pick(3)) % NOUNS.length]}${suite}`;
    return {
      name,
      title: capital(name),
      tests: range(tests).map((number) => {
        const deed = DEEDS[number % DEEDS.length];
        const at = suite * tests + number;
        return {
          suite: name,
          deed,
          number: at,
          expected: 100_000 + at * 37 + pick(30),
          actual: 500_000 + at * 41 + pick(30),
          port: 2 + (at % 5),
          said: pick(3) === 0 ? chatter(pick, 1 + pick(talk)) : [],
          fault: places.has(at) ? fault : null,
        };
      }),
    };
  });
  return { suites: all, wrong: all.flatMap(({ tests }) => tests.filter((test) => test.fault !== null)) };
}
