import fc from "fast-check";
import { expect, test } from "vitest";
import { JsonText } from "./edit-json.ts";

const jsonc = (text: string) => new JsonText(text, { hasComments: true });

test("adds beside what is there: comments, blanks, line breaks and a byte order mark stay", () => {
  const text = '\ufeff{\r\n\t// mine\r\n\t"a": [1, 2,], /* b */\r\n\t"hooks": {}, // end\r\n}\r\n';
  const json = jsonc(text);
  json.add(["hooks", "After", 0], { x: 1 });
  json.add(["a", 0], 3);
  expect(json.toString()).toBe(
    '\ufeff{\r\n\t// mine\r\n\t"a": [1, 2, 3,], /* b */\r\n\t"hooks": {\r\n\t\t"After": [\r\n\t\t\t{\r\n\t\t\t\t"x": 1\r\n\t\t\t}\r\n\t\t]\r\n\t}, // end\r\n}\r\n',
  );
});

test("what was added and is removed again leaves the text as it was, whatever its layout", () => {
  const blank = fc.constantFrom("", " ", "\n", "\n  ", "\t", " /* note */ ", "\n// note\n");
  const value = fc.constantFrom("1", '"x"', "null", "true", "[ ]", "[1,\n 2]", '{ "y": [] }');
  const member = fc.tuple(blank, fc.constantFrom("a", "b", "c"), blank, value, blank);
  const object = fc.tuple(fc.array(member, { minLength: 1, maxLength: 3 }), fc.constantFrom("", "\ufeff"), blank);
  // JSON writes -0 as 0.
  const jsonValue = fc.jsonValue().map((each) => JSON.parse(JSON.stringify(each)) as unknown);
  fc.assert(
    fc.property(object, jsonValue, ([members, bom, end], added) => {
      const text = `${bom}{${members.map(([a, key, b, said, c], i) => `${a}"${key}${i}"${b}:${said}${c}`).join(",")}}${end}`;
      const json = jsonc(text);
      json.add(["new"], added);
      expect(json.value("new")).toEqual(added);
      expect(jsonc(json.toString()).value("new")).toEqual(added);
      json.remove(["new"]);
      expect(json.toString()).toBe(text);
    }),
  );
});

test("what holds no object, or is no JSON, is refused", () => {
  for (const text of ["[]", "7", "{", '{"a":1}}', "nope"]) expect(() => jsonc(text)).toThrow(/object|Unexpected/);
  expect(() => new JsonText("{ // a comment\n}", { hasComments: false })).toThrow("Unexpected");
  expect(jsonc("").toString()).toBe("{}\n");
});
