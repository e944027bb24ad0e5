import {
  entrySize,
  GONE_SIZE,
  isMember,
  type JsonEntry,
  type JsonGroup,
  type JsonMember,
  SKIP_SIZE,
} from "./json-node.ts";

/** An element gets at least this, and at most a quarter of the room: better a few well shown than many as notes. */
const LEAST_ELEMENT_BYTES = 24;
const ELEMENT_SHARE = 0.25;
/** Of the shown elements, those that are unlike the others. */
const RARE_SHARE = 0.4;
/** Elements looked at to tell how large one is. */
const SAMPLE_COUNT = 64;

/** The entries of a group that are shown in `room` bytes, by their place in `entries`. */
export function chooseEntries(group: JsonGroup, room: number): Set<number> {
  const places = group.entries.flatMap((entry, place) => (isMember(entry) ? [place] : []));
  const chosen = group.kind === "object" ? chooseMembers(group, places, room) : chooseElements(group, places, room);
  const last = group.entries.at(-1);
  // A value that is still coming stays where it is.
  if (last !== undefined && isMember(last) && "isOpen" in last.node && last.node.isOpen) {
    chosen.add(group.entries.length - 1);
  }
  return chosen;
}

/** All keys if each can have at least a note behind it, else those somebody is after and as many others as can. */
function chooseMembers(group: JsonGroup, places: readonly number[], room: number): Set<number> {
  const member = (place: number) => group.entries[place] as JsonMember;
  const least = places.reduce((sum, place) => sum + leastSize(member(place)), 0);
  const skips = group.entries.length - places.length;
  if (least + skips * SKIP_SIZE <= room) return new Set(places);
  const chosen = new Set<number>();
  let left = room - SKIP_SIZE;
  const wanted = places.filter((place) => member(place).node.isWanted);
  for (const place of [...wanted, ...places]) {
    if (chosen.has(place)) continue;
    const size = leastSize(member(place));
    if (size > left) continue;
    left -= size;
    chosen.add(place);
  }
  return chosen;
}

function chooseElements(group: JsonGroup, places: readonly number[], room: number): Set<number> {
  let most = countElements(group, places, room);
  if (most >= places.length) return new Set(places);
  // Those that are picked may be larger than is usual: better fewer than each of them cut.
  for (let tries = 0; ; tries++) {
    const chosen = pick(group.entries, places, most);
    const size = [...chosen].reduce(
      (sum, place) => sum + Math.min(entrySize(group.entries[place] as JsonMember), room * ELEMENT_SHARE),
      0,
    );
    const left = room - 2 * SKIP_SIZE;
    if (size <= left || tries > 2 || most < 4) return chosen;
    most = Math.max(3, Math.floor((most * left) / size));
  }
}

function countElements(group: JsonGroup, places: readonly number[], room: number): number {
  const stride = Math.max(1, Math.floor(places.length / SAMPLE_COUNT));
  const sizes = places
    .filter((_, index) => index % stride === 0)
    .map((place) => entrySize(group.entries[place] as JsonMember))
    .sort((a, b) => a - b);
  const usual = sizes[sizes.length >> 1] ?? 0;
  const each = Math.max(LEAST_ELEMENT_BYTES, Math.min(usual, Math.floor(room * ELEMENT_SHARE)));
  const fit = Math.floor(room / Math.max(1, usual < LEAST_ELEMENT_BYTES ? usual : each));
  if (fit >= places.length) return places.length;
  return Math.max(0, Math.floor((room - SKIP_SIZE) / Math.max(1, usual < LEAST_ELEMENT_BYTES ? usual : each)));
}

/** First and last, then what somebody is after and what is unlike the others, then on from both ends. */
function pick(entries: readonly JsonEntry[], places: readonly number[], most: number): Set<number> {
  const chosen = new Set<number>();
  const take = (place: number | undefined) => {
    if (place !== undefined && chosen.size < most) chosen.add(place);
  };
  take(places[0]);
  take(places.at(-1));
  const special = (is: (member: JsonMember) => boolean) => places.filter((place) => is(entries[place] as JsonMember));
  const mostSpecial = chosen.size + Math.ceil(most * RARE_SHARE);
  for (const place of [...special(({ node }) => node.isWanted), ...special(({ isRare }) => isRare)]) {
    if (chosen.size < mostSpecial) take(place);
  }
  for (let step = 1; step < places.length && chosen.size < most; step++) {
    // Two from the start for each one from the end.
    take(places[step]);
    if (step % 2 === 0) take(places[places.length - 1 - step / 2]);
  }
  return chosen;
}

function leastSize(entry: JsonMember): number {
  const size = entrySize(entry);
  return Math.min(size, size - entry.node.size + GONE_SIZE);
}
