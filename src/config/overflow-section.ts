import * as z from "zod/mini";
import { NUMBERS, type NumberRow } from "../stages/policy/defaults.ts";
import { VERDICT_KINDS } from "../stages/policy/verdict-kinds.ts";

/** What sections of the config are made with. */
interface SchemaMakers {
  about<T extends z.ZodMiniType>(schema: T, description: string): T;
  flag(words: string): z.ZodMiniType;
  number(row: NumberRow, words: string): z.ZodMiniType;
  section(words: string, shape: Record<string, z.ZodMiniType>): z.ZodMiniType<Record<string, unknown>>;
  text(words: string): z.ZodMiniType;
}

/** Signatures of refusals, as a person writes them. What their texts may hold is checked when they are made ready. */
export function overflowSection({ about, flag, number, section, text }: SchemaMakers) {
  const texts = (words: string) => about(z.array(z.string({ error: "a text" }), { error: "a list of texts" }), words);
  const kindWords = `one of ${VERDICT_KINDS.join(", ")}`;
  const statusRange = { error: "a number from 400 to 599" };
  const signatureWords = "a rule: a name under rule, a kind, and one of status, code, stop or text";
  const signature = section("One way in which a refusal is known: all that is given must hold.", {
    rule: text("Its name: lower-case words with - between them."),
    kind: about(z.enum(VERDICT_KINDS, { error: kindWords }), "What the refusal means."),
    provider: text("Whose it is."),
    status: about(
      z.array(z.int(statusRange).check(z.minimum(400, statusRange), z.maximum(599, statusRange)), {
        error: "a list of numbers",
      }),
      "The HTTP status is one of these.",
    ),
    code: texts("The error's code, type or name is one of these."),
    stop: texts("The reason why the answer ended is one of these."),
    text: texts(
      "One of these stands in the error's text; {observed}, {limit}, {input}, {output} and {number} stand for a number, ... for anything.",
    ),
    not: texts("None of these stands in the text or is a code."),
    fields: section("Fields of the error that hold the numbers.", {
      observed: text("Tokens of the request."),
      limit: text("The most it may have."),
    }),
    limitTokens: number(
      NUMBERS.contextTokens,
      "The limit that these words stand for without naming it; a request far below it is not meant.",
    ),
    over: flag("The request must be over the limit that is named (true) or not (false)."),
    named: flag("Only where the provider is known to be this one. Default: false."),
    empty: flag("The answer must have had no body. Default: false."),
  }).check(
    z.refine(
      (value) =>
        "rule" in value && "kind" in value && ["status", "code", "stop", "text", "empty"].some((key) => key in value),
      { error: signatureWords, abort: true },
    ),
  );
  return section("How a refusal for size is known. Not in a project's file.", {
    rules: about(
      z.array(signature, { error: "a list of rules" }),
      "Signatures of your own, asked before the built-in ones.",
    ),
  });
}
