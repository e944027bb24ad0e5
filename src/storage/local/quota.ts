import { statfsSync } from "node:fs";
import { statfs } from "node:fs/promises";
import { SpillwayError } from "../../errors.ts";
import { NUMBERS } from "../../stages/policy/defaults.ts";

const GLANCE_EVERY_MS = 1000;
const MAKE_ROOM_EVERY_MS = 60_000;

/** Sets how much a local store may take. */
export interface StoreLimits {
  /** The most bytes of all artifacts together. */
  maxBytes?: number;
  /** How many bytes stay free on the disk. */
  freeReserveBytes?: number;
}

/** Refuses artifacts before the disk or the store is full. */
export interface Quota {
  /**
   * Throws if there is no room for more. `heldBytes` is the size so far of one unfinished artifact, which the store's
   * total does not include yet.
   */
  require(heldBytes: number): Promise<void>;
  /**
   * Does the same for a small artifact, but looks at most once a second, so that the check costs less than the saving.
   */
  glance(): Promise<void>;
  /** Does the same as `require` without a promise. It cannot make room first. */
  requireNow(bytes: number): void;
}

/** Opens the quota of a folder. Before it refuses, it calls `makeRoom`, which may remove what retention allows. */
export function openQuota(
  dir: string,
  { maxBytes = NUMBERS.retainTotalBytes.default, freeReserveBytes = NUMBERS.freeReserveBytes.default }: StoreLimits,
  totalBytes: () => number,
  makeRoom: () => Promise<unknown>,
): Quota {
  const free = async () => {
    const disk = await statfs(dir);
    return disk.bavail * disk.bsize;
  };
  let glancedMs = -Infinity;
  let madeRoomMs = -Infinity;
  let refusal: unknown = null;
  const require = async (heldBytes: number): Promise<void> => {
    if ((await free()) >= freeReserveBytes && totalBytes() + heldBytes < maxBytes) return;
    if (performance.now() - madeRoomMs > MAKE_ROOM_EVERY_MS) {
      madeRoomMs = performance.now();
      await makeRoom();
    }
    refuse(await free(), heldBytes);
  };
  const refuse = (freeBytes: number, heldBytes: number): void => {
    if (freeBytes < freeReserveBytes) {
      throw new SpillwayError(
        "store-full",
        `the disk of ${dir} has ${freeBytes} bytes free and ${freeReserveBytes} are left free on it. Run: spillway gc`,
      );
    }
    const total = totalBytes();
    if (total + heldBytes < maxBytes) return;
    throw new SpillwayError(
      "store-full",
      `the store in ${dir} holds ${total + heldBytes} of ${maxBytes} bytes, and all of it is of sessions that are ` +
        "in use or pinned. Raise the limit, unpin a session, or run: spillway rm --session NAME",
    );
  };
  return {
    require,
    requireNow(bytes) {
      const disk = statfsSync(dir);
      refuse(disk.bavail * disk.bsize, bytes);
    },
    async glance() {
      if (performance.now() - glancedMs > GLANCE_EVERY_MS) {
        glancedMs = performance.now();
        refusal = await require(0).then(
          () => null,
          (error: unknown) => error,
        );
      }
      if (refusal !== null) throw refusal;
    },
  };
}
