/** Where HTTP statuses stand: after `" `, `status` or `HTTP/1.1`, or after a method and a path. */
const METHOD = String.raw`\b(?:get|head|post|put|patch|delete|options) \S+ (?:[-=]?> )?`;
const PLACE = String.raw`(?:(?:"|status|/.\.\d)[ \t=:]{1,8}|${METHOD})`;
const STATUS = new RegExp(String.raw`${PLACE}\d`, "i");
const FAILING = new RegExp(String.raw`${PLACE}([45]\d\d)(?![\da-z.])`, "i");

/** True if a number stands where HTTP statuses do. Texts of one shape agree on this. */
export function hasStatus(text: string): boolean {
  return STATUS.test(text);
}

/** Returns the first such number from 400 to 599, or 0 if there is none. */
export function failingStatus(text: string): number {
  return Number(FAILING.exec(text)?.[1] ?? 0);
}
