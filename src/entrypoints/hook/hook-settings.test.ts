import fc from "fast-check";
import { expect, test } from "vitest";
import { claudeCode } from "./agents/claude-code.ts";
import { hookSettings } from "./hook-settings.ts";

const { settings: format } = claudeCode;
const withHooks = (settings: object, choice: { wrapCommands: boolean }) =>
  JSON.parse(format.withHooks(JSON.stringify(settings), choice));
const withoutHooks = (settings: object) => JSON.parse(format.withoutHooks(JSON.stringify(settings)));

const own = { matcher: "Bash", hooks: [{ type: "command", command: "mine" }] };

test("adds its hooks once and keeps what was there", () => {
  const settings = { model: "m", hooks: { PostToolUse: [own], Stop: [own] } };
  const once = withHooks(settings, { wrapCommands: true });
  expect(withHooks(once, { wrapCommands: true })).toEqual(once);
  expect(once).toMatchObject({ model: "m", hooks: { Stop: [own] } });
  const { PostToolUse, PreToolUse } = once.hooks as Record<string, unknown[]>;
  expect([PostToolUse?.[0], PostToolUse?.length, PreToolUse?.length]).toEqual([own, 2, 1]);
});

test("taking them out gives back what was there", () => {
  const rows = fc.array(fc.constant(own), { minLength: 1, maxLength: 3 });
  const hooks = fc.record({ PostToolUse: rows, PreToolUse: rows, Stop: rows }, { requiredKeys: [] });
  const settings = fc.record({ model: fc.string(), hooks }, { requiredKeys: [] });
  fc.assert(
    fc.property(settings, fc.boolean(), (before, wrapCommands) => {
      const after = withoutHooks(withHooks(before, { wrapCommands }));
      const isEmpty = before.hooks !== undefined && Object.keys(before.hooks).length === 0;
      const { hooks: _, ...rest } = before;
      expect(after).toEqual(isEmpty ? rest : before);
    }),
  );
});

test("taking ours out of a row leaves the neighbours in it, and the row's own fields", () => {
  const ours = { type: "command", command: "/opt/bin/spillway hook", timeout: 5 };
  const [before, after] = [
    { type: "command", command: "before" },
    { type: "command", command: "spillway hooks" },
  ];
  const row = (...hooks: object[]) => ({ matcher: "Bash", note: "mine", hooks });
  const settings = { hooks: { PostToolUse: [row(before, ours, after), row(ours), own] } };
  expect(withoutHooks(settings)).toEqual({ hooks: { PostToolUse: [row(before, after), own] } });
});

test("hooks of another agent are known by our command too, and every text is written the same way", () => {
  const hooks = [{ type: "command", command: "spillway hook gemini", timeout: 10_000 }];
  const other = hookSettings(() => ({ AfterTool: { matcher: ".*", hooks } }));
  const added = other.withHooks('{"model":"m"}', { wrapCommands: false });
  expect(JSON.parse(added)).toEqual({ model: "m", hooks: { AfterTool: [{ matcher: ".*", hooks }] } });
  expect(other.normalize(added)).toBe(added);
  expect(other.withHooks(added, { wrapCommands: false })).toBe(added);
  expect(other.withoutHooks(added)).toBe(other.normalize('{"model":"m"}'));
  expect(other.normalize("")).toBe("{}\n");
});
