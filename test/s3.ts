/**
 * The S3-compatible server for tests, or why there is none. SPILLWAY_TEST_S3 names a bucket, which is made if it is missing,
 * as `s3://bucket?endpoint=http://127.0.0.1:18080&region=us-east-1`; its keys are in SPILLWAY_TEST_S3_KEY and
 * SPILLWAY_TEST_S3_SECRET. test/start-swift.sh starts such a server.
 */
import { randomBytes } from "node:crypto";

/** A server for tests. */
export interface S3Server {
  /** The address of an empty place of its own: a prefix. */
  fresh(endpoint?: string): string;
  /** The keys, as the product reads them. */
  env: { AWS_ACCESS_KEY_ID: string; AWS_SECRET_ACCESS_KEY: string };
  endpoint: string;
}

export async function findS3(): Promise<S3Server | string> {
  const address = process.env["SPILLWAY_TEST_S3"];
  if (!address) return "no S3-compatible server: name one in SPILLWAY_TEST_S3, as test/start-swift.sh prints it";
  const url = new URL(address);
  const env = {
    AWS_ACCESS_KEY_ID: process.env["SPILLWAY_TEST_S3_KEY"] ?? "test:tester",
    AWS_SECRET_ACCESS_KEY: process.env["SPILLWAY_TEST_S3_SECRET"] ?? "testing",
  };
  const endpoint = url.searchParams.get("endpoint") ?? "";
  const { S3mini } = await import("s3mini");
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = env;
  const region = url.searchParams.get("region") ?? "us-east-1";
  const client = new S3mini({ accessKeyId, secretAccessKey, endpoint: `${endpoint}/${url.hostname}`, region });
  if (!(await client.bucketExists())) await client.createBucket();
  return {
    env,
    endpoint,
    fresh: (through = endpoint) =>
      `s3://${url.hostname}/${randomBytes(8).toString("hex")}?endpoint=${encodeURIComponent(through)}&region=${region}`,
  };
}
