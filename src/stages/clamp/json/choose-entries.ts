import { entrySize, GONE_SIZE, isMember, type JsonGroup, type JsonMember, SKIP_SIZE } from "./json-node.ts";
import { rarityOf, USUAL_COUNT } from "./rare-elements.ts";

/** An element gets at least this, and at most a quarter of the room: better a few well shown than many as notes. */
const LEAST_ELEMENT_BYTES = 24;
const ELEMENT_SHARE = 0.25;
/** Of the room, what special entries may take, what of it others keep from them, and what one gets at least. */
export const SPECIAL_SHARE = 0.5;
const OTHERS_SHARE = 0.2;
const LEAST_SPECIAL_BYTES = 160;
/** Of a map's members, those that are objects. */
const MAP_SHARE = 0.75;
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
  if (isMap(group, places)) return chooseElements(group, places, room);
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

/** First, last and what is most special, then others that are while they leave room for others, then on from both ends. */
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
  // One that is special comes even before the last.
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

/** Those that are special, the most special first. */
function specialPlaces(group: JsonGroup, places: readonly number[]): number[] {
  const ranks = new Map(places.map((place) => [place, specialRank(group.entries[place] as JsonMember, group.count)]));
  return [3, 2, 1].flatMap((rank) => places.filter((place) => ranks.get(place) === rank));
}

/** What comes before others: 3 for what somebody is after, 2 and 1 for what is unusual among `total`; else 0. */
export function specialRank(entry: JsonMember, total: number): 0 | 1 | 2 | 3 {
  return entry.node.isWanted ? 3 : rarityOf(entry, total);
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

/** True for an object with many members, most of them objects: from names to things of one sort. */
function isMap(group: JsonGroup, places: readonly number[]): boolean {
  if (group.count <= USUAL_COUNT) return false;
  const objects = places.filter((place) => {
    const { node } = group.entries[place] as JsonMember;
    return node.kind === "object" || (node.kind === "gone" && node.what === "object");
  });
  return objects.length >= places.length * MAP_SHARE;
}

function leastSize(entry: JsonMember): number {
  const size = entrySize(entry);
  return Math.min(size, size - entry.node.size + GONE_SIZE);
}
