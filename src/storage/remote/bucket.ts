import { createHash } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import type * as S3 from "s3mini";
import { newTurns } from "../../deadline.ts";
import { messageOf, SpillwayError } from "../../errors.ts";
import { loadPackage } from "../../load-package.ts";
import { NUMBERS } from "../../stages/policy/defaults.ts";
import { withoutUserInfo } from "../../values.ts";

/** Bytes on their way into an object. */
export interface ObjectSource {
  bytes: number;
  read(from: number, to: number): Promise<Uint8Array>;
}

/** A bucket of an S3-compatible store, below one prefix. Keys are those below it. */
export interface Bucket {
  /** The bucket and the server, without keys. */
  readonly place: string;
  /** Whole or not at all: a large object is sent in parts, and a fault ends the upload. */
  put(key: string, source: ObjectSource): Promise<void>;
  /** Returns null if there is no such object. Throws if the answer is shorter than asked for. */
  read(key: string, from: number, to: number): Promise<Uint8Array | null>;
  /** Passes over objects that are not there. */
  remove(keys: readonly string[]): Promise<void>;
  /** Every object below the prefix, page by page. */
  list(): AsyncGenerator<{ key: string; bytes: number; changedMs: number }>;
}

/** The keys, as every S3 client takes them from the environment. */
type Environment = { readonly [name: string]: string | undefined };

const TRIES = 3;
const FIRST_PAUSE_MS = 100;
const PARTS_AT_ONCE = 3;
const REMOVED_AT_ONCE = 4;
/** The most that the protocol allows. */
const MOST_PARTS = 10_000;

/** Opens a bucket by its address, such as s3://bucket/prefix?endpoint=https://host&region=eu-central-1. Asks nothing yet. */
export async function openBucket(address: string, env: Environment = process.env): Promise<Bucket> {
  const { bucket, prefix, endpoint, region } = readAddress(address, env);
  const place = `s3://${bucket}/${prefix} at ${withoutUserInfo(endpoint)}`;
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = env;
  if (!accessKeyId || !secretAccessKey) {
    throw new SpillwayError(
      "bad-input",
      `${place} needs keys: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment`,
    );
  }
  const { S3mini } = await loadS3();
  const client = new S3mini({
    accessKeyId,
    secretAccessKey,
    endpoint: `${endpoint}/${bucket}`,
    region,
    requestAbortTimeout: NUMBERS.objectRequestMs.default,
    fetch: fetchAsServersTakeIt,
  });

  /** Tries again what may succeed a little later. */
  async function attempt<T>(act: () => Promise<T>): Promise<T> {
    for (let at = 1; ; at += 1) {
      try {
        return await act();
      } catch (error) {
        if (at === TRIES || !isPassing(error)) throw bucketFault(error, place);
      }
      await setTimeout(FIRST_PAUSE_MS * 2 ** at * (0.5 + Math.random()));
    }
  }

  async function putParts(name: string, { bytes, read }: ObjectSource): Promise<void> {
    const partBytes = Math.max(NUMBERS.objectPartBytes.default, Math.ceil(bytes / MOST_PARTS));
    const upload = await attempt(() => client.getMultipartUploadId(name));
    try {
      const starts = Array.from({ length: Math.ceil(bytes / partBytes) }, (_none, index) => index * partBytes);
      const parts = await eachInTurn(starts, PARTS_AT_ONCE, async (from, index) => {
        const piece = new Uint8Array(await read(from, Math.min(bytes, from + partBytes)));
        return attempt(() => client.uploadPart(name, upload, piece, index + 1));
      });
      await attempt(() => client.completeMultipartUpload(name, upload, parts));
    } catch (error) {
      // If this fails too, the bucket's own rule for unfinished uploads removes the parts.
      await client.abortMultipartUpload(name, upload).catch(() => {});
      throw error;
    }
  }

  return {
    place,
    async put(key, source) {
      const name = prefix + key;
      if (source.bytes > NUMBERS.objectPartBytes.default) return putParts(name, source);
      const whole = new Uint8Array(await source.read(0, source.bytes));
      await attempt(() => client.putObject(name, whole));
    },
    read: (key, from, to) =>
      attempt(async () => {
        if (to <= from) return new Uint8Array();
        try {
          const answer = await client.getObjectRaw(prefix + key, false, from, to);
          const read = new Uint8Array(await answer.arrayBuffer());
          if (answer.status === 206 && read.length === to - from) return read;
          // A server without ranges sends everything.
          if (answer.status === 200 && read.length >= to) return read.subarray(from, to);
          throw new TypeError(`the answer has ${read.length} bytes of the ${to - from} that were asked for`);
        } catch (error) {
          if (statusOf(error) === 404) return null;
          throw error;
        }
      }),
    async remove(keys) {
      const names = keys.map((key) => prefix + key);
      // One request removes many. Not every server knows it, so what is left after it is removed one by one.
      const gone = names.length > 1 ? await client.deleteObjects(names).catch(() => []) : [];
      const left = names.filter((_name, index) => !gone[index]);
      await eachInTurn(left, REMOVED_AT_ONCE, (name) =>
        attempt(async () => {
          await client.deleteObject(name).catch((error: unknown) => {
            if (statusOf(error) !== 404) throw error;
          });
        }),
      );
    },
    async *list() {
      for (let next: string | undefined, isFirst = true; isFirst || next !== undefined; isFirst = false) {
        const page = await attempt(() => client.listObjectsPaged("/", prefix, 1000, next));
        // That is what the client makes of a bucket that is not there.
        if (!page) throw bucketFault(Object.assign(new Error("S3 returned 404"), { status: 404 }), place);
        for (const { Key, Size, LastModified } of page.objects ?? []) {
          yield { key: Key.slice(prefix.length), bytes: Number(Size), changedMs: new Date(LastModified).getTime() };
        }
        next = page.nextContinuationToken;
      }
    },
  };
}

/** Does something with each of many, only so many at once. Waits for all of them before it throws what one of them threw. */
async function eachInTurn<T, R>(all: readonly T[], atOnce: number, act: (one: T, index: number) => Promise<R>) {
  const turns = newTurns(atOnce);
  const ended = await Promise.allSettled(
    all.map(async (one, index) => {
      await turns.take();
      return act(one, index).finally(turns.give);
    }),
  );
  return ended.map((end) => {
    if (end.status === "rejected") throw end.reason;
    return end.value;
  });
}

/**
 * Fetch counts a body itself. If the package undici is loaded, Node 20 sends through it, and a length that stands among the
 * headers as well is refused there. A list of objects to remove needs an MD5 on servers that do not read newer checksums.
 * The signature covers neither.
 */
const fetchAsServersTakeIt: typeof fetch = (url, init) => {
  const headers = new Headers(init?.headers);
  headers.delete("content-length");
  const { body } = init ?? {};
  if (typeof body === "string") headers.set("content-md5", createHash("md5").update(body).digest("base64"));
  return fetch(url, { ...init, headers });
};

async function loadS3(): Promise<typeof S3> {
  try {
    return await loadPackage<typeof S3>("s3mini");
  } catch (error) {
    throw new SpillwayError(
      "missing-part",
      `a store in S3 needs the package s3mini, which cannot be loaded: ${messageOf(error)}. Run: npm install s3mini`,
      { cause: error },
    );
  }
}

/** Reads a bucket's address. Throws for one that is none, or that holds a key. */
export function readAddress(address: string, env: Environment = {}) {
  const url = URL.canParse(address) ? new URL(address) : null;
  const wrong = (why: string) =>
    new SpillwayError(
      "bad-input",
      `a store's address must be such as s3://bucket/prefix?endpoint=https://host&region=eu-central-1: ${why}`,
    );
  if (url === null || url.protocol !== "s3:" || url.hostname === "") throw wrong("it begins with s3:// and a bucket");
  if (url.username !== "" || url.password !== "") {
    throw wrong("keys do not belong in it; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY instead");
  }
  const unknown = [...url.searchParams.keys()].find((name) => name !== "endpoint" && name !== "region");
  if (unknown !== undefined) throw wrong(`it takes endpoint and region, and not ${JSON.stringify(unknown)}`);
  const region = url.searchParams.get("region") ?? env["AWS_REGION"] ?? "us-east-1";
  const endpoint = url.searchParams.get("endpoint") ?? `https://s3.${region}.amazonaws.com`;
  if (!URL.canParse(endpoint) || !/^https?:$/.test(new URL(endpoint).protocol)) {
    throw wrong("its endpoint is an address that begins with https:// or http://");
  }
  const path = decodeURIComponent(url.pathname).replaceAll(/^\/+|\/+$/g, "");
  return {
    bucket: url.hostname,
    prefix: path === "" ? "" : `${path}/`,
    endpoint: endpoint.replace(/\/+$/, ""),
    region,
  };
}

function statusOf(error: unknown): number | null {
  return error instanceof Error && "status" in error && typeof error.status === "number" ? error.status : null;
}

/** Returns true if the same may succeed a little later: no answer, half an answer, too many requests, or a fault of the server. */
function isPassing(error: unknown): boolean {
  const status = statusOf(error);
  return status === null ? !SpillwayError.is(error) : status === 408 || status === 429 || status >= 500;
}

/** Returns an error that says what to do. */
function bucketFault(error: unknown, place: string): SpillwayError {
  if (SpillwayError.is(error)) return error;
  const status = statusOf(error);
  const said = messageOf(error).replace(/^\[s3mini\] /, "");
  const why =
    status === 403 && /RequestTimeTooSkewed|skew/i.test(said)
      ? "refuses the time of this machine's clock; set the clock"
      : status === 403 || status === 401
        ? "refuses the keys of the environment"
        : status === 404
          ? "has no such bucket; make it first"
          : "does not take or give objects";
  return new SpillwayError("store-unavailable", `${place} ${why}: ${said}`, { cause: error });
}
