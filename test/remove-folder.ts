import { rmSync } from "node:fs";

/** Removes the folder that the tests' artifacts and events were kept in. */
export function teardown(): void {
  const folder = process.env.SPILLWAY_TEST_DIR;
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
}
