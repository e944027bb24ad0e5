import fc from "fast-check";
import type { Speaks } from "../../src/testing/fake-provider/fake-provider.ts";

// Conversations of an agent, in no format; each speech writes them in its own.

/** One turn: the agent calls tools, or the user says something more. */
export interface RandomTurn {
  says: string;
  calls: { tool: string; path: string; text: string; isError: boolean; hasImage: boolean }[];
  /** What the user says after it, if anything. */
  user: string | null;
}

export interface RandomConversation {
  system: string;
  first: string;
  turns: RandomTurn[];
}

const WORDS =
  "the error build function return const value stack trace at line of module import export test passed failed warning info request response timeout user data index cache node process memory thread".split(
    " ",
  );

/** A text of about so many characters, of one of several sorts that tokenizers treat differently. */
export function textOf(sort: number, chars: number, seed: number): string {
  let state = (seed * 2654435761) >>> 0 || 1;
  const next = (most: number) => {
    state ^= state << 13;
    state >>>= 0;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state % most;
  };
  const word = () => WORDS[next(WORDS.length)] as string;
  const pieces: (() => string)[] = [
    () => `${word()} ${word()} ${word()} ${word()}${next(5) === 0 ? ".\n" : " "}`,
    () =>
      `2026-11-${10 + next(19)}T0${next(9)}:${10 + next(49)}:0${next(9)}Z [${word()}] ${word()}=${next(99999)} ${word()}\n`,
    () => `  const ${word()}_${next(99)} = await ${word()}.${word()}("${word()}", { ${word()}: ${next(999)} });\n`,
    () => `{"id":${next(999999)},"name":"${word()}","ok":${next(2) === 0},"tags":["${word()}","${word()}"]},\n`,
    () => `src/${word()}/${word()}-${word()}.ts:${next(900)}: ${word()} ${word()}\n`,
    () => `${next(0xffffffff).toString(16)}${next(0xffffffff).toString(16)}${next(6) === 0 ? "\n" : ""}`,
    () =>
      `${["状态", "错误", "请求", "文件", "测试", "构建"][next(6)]}${["成功", "失败", "超时", "完成"][next(4)]}${next(4) === 0 ? "。\n" : ""}`,
    () => `${["Fehler", "Übersicht", "größer", "naïve", "données", "señal"][next(6)]} ${word()} \u{1f680} `,
  ];
  const piece = pieces[sort % pieces.length] as () => string;
  const parts: string[] = [];
  for (let length = 0; length < chars; ) {
    const one = piece();
    parts.push(one);
    length += one.length;
  }
  return parts.join("").slice(0, chars).toWellFormed();
}

const text = (most: number): fc.Arbitrary<string> =>
  fc
    .tuple(fc.nat(7), fc.nat(1000), fc.nat(100_000))
    .map(([sort, share, seed]) => textOf(sort, 1 + Math.floor((share / 1000) ** 3 * most), seed));

/** A conversation of an agent: a few huge results among many small ones. */
export const conversations: fc.Arbitrary<RandomConversation> = fc.record({
  system: text(6000),
  first: text(2000),
  turns: fc.array(
    fc.record({
      says: text(1500),
      calls: fc.array(
        fc.record({
          tool: fc.constantFrom("read_file", "bash", "grep", "fetch_page"),
          path: fc.constantFrom("a.ts", "b.ts", "c/d.log"),
          text: text(30_000),
          isError: fc.boolean(),
          hasImage: fc.nat(9).map((n) => n === 0),
        }),
        { minLength: 1, maxLength: 3 },
      ),
      user: fc.option(text(1500), { freq: 3 }),
    }),
    { minLength: 1, maxLength: 6 },
  ),
});

const PICTURE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk".repeat(50);

/** A request's body in one API, with its messages apart. */
export interface Spoken {
  wire: string;
  path: string;
  field: string;
  beside: Record<string, unknown>;
  messages: Record<string, unknown>[];
  /** The messages of which the newest turn is made: the last calls with their results, or what the user said last. */
  newest: number;
}

const TOOL = { name: "read_file", description: "Reads a file of the project.", path: "Where it is." };
const schema = { type: "object", properties: { path: { type: "string", description: TOOL.path } } };

/** Writes a conversation as one API has it. */
export const speeches: Record<Speaks, (conversation: RandomConversation) => Spoken> = {
  anthropic({ system, first, turns }) {
    const messages: Record<string, unknown>[] = [{ role: "user", content: first }];
    turns.forEach(({ says, calls, user }, turn) => {
      const uses = calls.map(({ tool, path }, at) => ({
        type: "tool_use",
        id: `toolu_${turn}_${at}`,
        name: tool,
        input: { path },
      }));
      messages.push({ role: "assistant", content: [{ type: "text", text: says }, ...uses] });
      const results = calls.map(({ text: said, isError, hasImage }, at) => ({
        type: "tool_result",
        tool_use_id: `toolu_${turn}_${at}`,
        ...(isError && !hasImage && { is_error: true }),
        content: hasImage
          ? [
              { type: "text", text: said },
              { type: "image", source: { type: "base64", media_type: "image/png", data: PICTURE } },
            ]
          : said,
      }));
      messages.push({ role: "user", content: results });
      if (user !== null) messages.push({ role: "assistant", content: "Done." }, { role: "user", content: user });
    });
    const tools = [{ name: TOOL.name, description: TOOL.description, input_schema: schema }];
    const beside = { model: "fake", max_tokens: 100, system, tools };
    return { wire: "anthropic", path: "/v1/messages", field: "messages", beside, messages, newest: newestOf(turns, 2) };
  },
  "openai-chat"({ system, first, turns }) {
    const messages: Record<string, unknown>[] = [
      { role: "system", content: system },
      { role: "user", content: first },
    ];
    turns.forEach(({ says, calls, user }, turn) => {
      const tool_calls = calls.map(({ tool, path }, at) => ({
        id: `call_${turn}_${at}`,
        type: "function",
        function: { name: tool, arguments: JSON.stringify({ path }) },
      }));
      messages.push({ role: "assistant", content: says, tool_calls });
      calls.forEach(({ text: said }, at) =>
        messages.push({ role: "tool", tool_call_id: `call_${turn}_${at}`, content: said }),
      );
      if (user !== null) messages.push({ role: "assistant", content: "Done." }, { role: "user", content: user });
    });
    const tools = [
      { type: "function", function: { name: TOOL.name, description: TOOL.description, parameters: schema } },
    ];
    const beside = { model: "fake", max_completion_tokens: 100, tools };
    const newest = newestOf(turns, 1 + (turns.at(-1)?.calls.length ?? 0));
    return { wire: "openai-chat", path: "/v1/chat/completions", field: "messages", beside, messages, newest };
  },
  "openai-responses"({ system, first, turns }) {
    const messages: Record<string, unknown>[] = [{ role: "user", content: first }];
    turns.forEach(({ says, calls, user }, turn) => {
      messages.push({ role: "assistant", content: says });
      calls.forEach(({ tool, path }, at) =>
        messages.push({
          type: "function_call",
          call_id: `call_${turn}_${at}`,
          name: tool,
          arguments: JSON.stringify({ path }),
        }),
      );
      calls.forEach(({ text: said, hasImage }, at) =>
        messages.push({
          type: "function_call_output",
          call_id: `call_${turn}_${at}`,
          output: hasImage
            ? [
                { type: "input_text", text: said },
                { type: "input_image", image_url: `data:image/png;base64,${PICTURE}` },
              ]
            : said,
        }),
      );
      if (user !== null) messages.push({ role: "assistant", content: "Done." }, { role: "user", content: user });
    });
    const tools = [{ type: "function", name: TOOL.name, description: TOOL.description, parameters: schema }];
    const beside = { model: "fake", max_output_tokens: 100, instructions: system, tools };
    const newest = newestOf(turns, 2 * (turns.at(-1)?.calls.length ?? 0));
    return { wire: "openai-responses", path: "/v1/responses", field: "input", beside, messages, newest };
  },
  gemini({ system, first, turns }) {
    const messages: Record<string, unknown>[] = [{ role: "user", parts: [{ text: first }] }];
    for (const { says, calls, user } of turns) {
      const made = calls.map(({ tool, path }) => ({ functionCall: { name: tool, args: { path } } }));
      messages.push({ role: "model", parts: [{ text: says }, ...made] });
      const parts = calls.map(({ tool, text: said }) => ({
        functionResponse: { name: tool, response: { output: said } },
      }));
      messages.push({ role: "user", parts });
      if (user !== null)
        messages.push({ role: "model", parts: [{ text: "Done." }] }, { role: "user", parts: [{ text: user }] });
    }
    const tools = [{ functionDeclarations: [{ name: TOOL.name, description: TOOL.description, parameters: schema }] }];
    const beside = { systemInstruction: { parts: [{ text: system }] }, tools };
    const path = "/v1beta/models/fake:generateContent";
    return { wire: "gemini", path, field: "contents", beside, messages, newest: newestOf(turns, 2) };
  },
};

function newestOf(turns: readonly RandomTurn[], callsAndResults: number): number {
  return turns.at(-1)?.user === null ? callsAndResults : 1;
}
