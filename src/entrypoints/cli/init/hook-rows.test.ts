import fc from "fast-check";
import { expect, test } from "vitest";
import { claudeCode } from "../../hook/agents/claude-code.ts";
import { type HookRows, hookedEvents, withHooks, withoutHooks } from "./plan-hooks.ts";

const rowsFor = (wrapCommands: boolean) => claudeCode.hooks("project", { wrapCommands }) as HookRows;
const add = (settings: object, wrapCommands = false) =>
  JSON.parse(withHooks(JSON.stringify(settings), rowsFor(wrapCommands)));
const remove = (settings: object) => JSON.parse(withoutHooks(JSON.stringify(settings), false));

const own = { matcher: "Bash", hooks: [{ type: "command", command: "mine" }] };

test("adds its hooks once and keeps what was there", () => {
  const settings = { model: "m", hooks: { PostToolUse: [own], Stop: [own] } };
  const once = add(settings, true);
  expect(add(once, true)).toEqual(once);
  expect(once).toMatchObject({ model: "m", hooks: { Stop: [own] } });
  const { PostToolUse, PreToolUse } = once.hooks as Record<string, unknown[]>;
  expect([PostToolUse?.[0], PostToolUse?.length, PreToolUse?.length]).toEqual([own, 2, 1]);
});

test("a hook of ours that was given flags, and one of another choice, stay as they are", () => {
  const given = { matcher: "Bash", hooks: [{ type: "command", command: "spillway hook --max-lines 9" }] };
  const settings = { hooks: { PostToolUse: [given], PreToolUse: [given] } };
  expect(add(settings)).toEqual(settings);
  expect(hookedEvents(JSON.stringify(settings), false)).toEqual(["PostToolUse", "PreToolUse"]);
  const text = JSON.stringify(settings);
  expect(JSON.parse(withoutHooks(text, false, (event) => event === "PreToolUse"))).toEqual({
    hooks: { PostToolUse: [given] },
  });
});

test("taking them out gives back what was there", () => {
  const rows = fc.array(fc.constant(own), { minLength: 1, maxLength: 3 });
  const hooks = fc.record({ PostToolUse: rows, PreToolUse: rows, Stop: rows }, { requiredKeys: [] });
  const settings = fc.record({ model: fc.string(), hooks }, { requiredKeys: [] });
  fc.assert(
    fc.property(settings, fc.boolean(), (before, wrapCommands) => {
      const after = remove(add(before, wrapCommands));
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
  expect(remove(settings)).toEqual({ hooks: { PostToolUse: [row(before, after), own] } });
});

test("rows that have the command themselves are known too, and what the file must have is put in", () => {
  const rows: HookRows = {
    path: "",
    rows: { postToolUse: { command: "spillway hook --agent x" } },
    base: { version: 1 },
    hasComments: true,
  };
  const added = withHooks("{\n  // mine\n}\n", rows);
  expect(added).toContain("// mine");
  expect(added).toContain('"version": 1');
  expect(withHooks(added, rows)).toBe(added);
  expect(JSON.parse(withoutHooks(added, true).replace("// mine", ""))).toEqual({ version: 1 });
});
