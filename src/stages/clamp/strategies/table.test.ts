import { describe, expect, it } from "vitest";
import { clampText } from "../../../admit/clamp-text.ts";
import { cellSplitter, splitAt } from "./table.ts";

describe("splitAt", () => {
  it.each([
    ['1,"a, b",2', ["1", '"a, b"', "2"], false],
    ['1, "a, b", 2', ["1", '"a, b"', "2"], false],
    ['1,"a ""b"", c",2', ["1", '"a ""b"", c"', "2"], false],
    ['1,5",7"",x', ["1", '5"', '7""', "x"], false],
    ['1,"a, b', ["1", '"a, b'], true],
  ])("%s", (line, cells, isOpen) => {
    expect(splitAt(line, ",", false)).toEqual({ cells, isOpen });
  });

  it("goes on within a quoted cell", () => {
    expect(splitAt('b, c",2', ",", true)).toEqual({ cells: ['b, c"', "2"], isOpen: false });
    expect(splitAt("b, c", ",", true)).toEqual({ cells: ["b, c"], isOpen: true });
  });
});

describe("cellSplitter", () => {
  it.each([
    ["id | name", " 1 | a b", ["1", "a b"]],
    ["ID    NAME ONE   STATE", "7     a b c      up", ["7", "a b c", "up"]],
    ["ID    NAME ONE   STATE", "7                up", ["7", "", "up"]],
    ["USER  PID %CPU COMMAND", "me  12345  0.1 run it now", ["me", "12345", "0.1", "run"]],
  ])("%s", (header, row, cells) => {
    expect(cellSplitter(header, row)(row, false).cells).toEqual(cells);
  });
});

it("keeps rows in another state than most, in a table of a few dozen rows", () => {
  const states = Array.from({ length: 36 }, (_, n) =>
    [12, 13, 14, 20].includes(n) ? "Error" : n === 25 ? "Pending" : "Running",
  );
  const rows = states.map(
    (state, n) =>
      `pod-${String(n).padEnd(20)}   1/1     ${state.padEnd(10)}   10.0.0.${String(n).padEnd(5)}   node-${n % 3}`,
  );
  const text = [`NAME${" ".repeat(23)}READY   STATUS       IP             NODE`, ...rows].join("\n");
  const { text: shown, receipt } = clampText(
    text,
    { maxChars: 1200 },
    { strategy: "auto", command: "kubectl get pods" },
  );
  expect(receipt.strategy).toBe("table");
  for (const n of [12, 13, 14, 20, 25]) expect(shown).toContain(`pod-${n} `);
});

it("keeps the one row whose words are others, where each value has a number of its own", () => {
  const rows = Array.from({ length: 140 }, (_, n) => {
    const status = n === 77 ? "Exited (137) 3 hours ago" : `Up ${1 + ((n * 7) % 20)} days`;
    return `${(n * 7919).toString(16).padStart(12, "0")}   svc-${String(n).padEnd(6)}   ${status.padEnd(25)}   8080/tcp`;
  });
  const text = [`CONTAINER ID   IMAGE        STATUS${" ".repeat(22)}PORTS`, ...rows].join("\n");
  const { text: shown, receipt } = clampText(text, { maxChars: 1500 }, { strategy: "auto", command: "docker ps -a" });
  expect(receipt.strategy).toBe("table");
  expect(shown).toContain("Exited (137) 3 hours ago");
});
