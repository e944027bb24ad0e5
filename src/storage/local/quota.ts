import { statfsSync } from "node:fs";
import { statfs } from "node:fs/promises";
import { SpillwayError } from "../../errors.ts";
import { NUMBERS } from "../../stages/policy/defaults.ts";

const GLANCE_EVERY_MS = 1000;
const MAKE_ROOM_EVERY_MS = 60_000;

/** How much a local store may take. */
export interface StoreLimits {
  /** All artifacts together. */
  maxBytes?: number;
  /** Left free on the disk. */
  freeReserveBytes?: number;
}

/** Foresees a full disk or a full store, before a write and during it. */
export interface Quota {
  /** Throws if there is no room for more than the `heldBytes` of one artifact that are on their way. */
  require(heldBytes: number): Promise<void>;
  /** The same for a small artifact, at most once a second: asking must not cost more than keeping. */
  glance(): Promise<void>;
  /** The same as `require` for a caller that cannot wait, so nothing makes room first. */
  requireNow(bytes: number): void;
}

/** `makeRoom` may remove what retention allows; it is called before anything is refused. */
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
