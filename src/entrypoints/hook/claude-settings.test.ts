import fc from "fast-check";
import { expect, test } from "vitest";
import { withHooks, withoutHooks } from "./claude-settings.ts";

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
