import type { WireCall } from "../../contract/wire.ts";
import { tried } from "../../values.ts";
import { familyOf, lastSegment } from "../policy/resolve-tool-policy.ts";

const PATHS = ["path", "file_path", "filePath", "file", "filename", "target_file", "absolute_path", "uri"];
const RANGES = /offset|limit|line|start|end|range|page|cursor|from|to$/i;
/** Longer input is no read of a file. */
const MAX_INPUT_CHARS = 4096;

/** What a read asked for. */
export interface FileRead {
  path: string;
  /** All of the file, as far as the call says. */
  isWhole: boolean;
  /** Two reads with the same input are the same. */
  input: string;
}

/** The file that a call reads; null if it is no read. */
export function fileReadBy(tool: string, call: WireCall | null): FileRead | null {
  const isRead = call !== null && familyOf(lastSegment(tool.toLowerCase()))?.keys.includes("read_file");
  return isRead ? tried(() => readOf(call.input)) : null;
}

function readOf(input: unknown): FileRead | null {
  if (typeof input === "string" && input.length > MAX_INPUT_CHARS) return null;
  const asked: unknown = typeof input === "string" ? JSON.parse(input) : input;
  if (typeof asked !== "object" || asked === null || Array.isArray(asked)) return null;
  const fields = asked as Record<string, unknown>;
  const path = PATHS.map((key) => fields[key]).find((value) => typeof value === "string" && value !== "");
  if (typeof path !== "string") return null;
  const others = Object.entries(fields).filter(([, value]) => value !== path);
  const isWhole = !others.some(([key, value]) => RANGES.test(key) && value !== null && value !== undefined);
  return { path, isWhole, input: JSON.stringify(others.sort(([a], [b]) => (a < b ? -1 : 1))) };
}

/** Returns true if a later read shows all that an earlier one of the same file did. */
export function supersedes(later: FileRead, earlier: FileRead): boolean {
  return later.path === earlier.path && (later.isWhole || later.input === earlier.input);
}
