/** What a model's answer is good for. */
export type CheckedAnswer = { text: string; why?: undefined } | { text: null; why: string };

/** A refusal is short and begins like one. */
const MAX_REFUSAL_CHARS = 600;
const REFUSAL =
  /^\W*(?:(?:i(?:'|\u2019)?m|i am) (?:sorry|unable|not able)|sorry\b|i (?:cannot|can(?:'|\u2019)?t|won(?:'|\u2019)?t|must decline|apologi[sz]e)|unfortunately,? i|as an ai\b|\u62b1\u6b49|\u5bf9\u4e0d\u8d77|\u6211\u65e0\u6cd5|\u6211\u4e0d\u80fd)/i;

/** What some local models say before their answer. */
const THINKING = /^\s*<think(?:ing)?>[\s\S]*?<\/think(?:ing)?>/i;

/** A text with these would be taken for binary, or act on a terminal. */
const CONTROLS = /[^\P{Cc}\n\t]/gu;

/** The answer if it can be used: not empty, no refusal, not too long, and without the data's own tag. */
export function checkAnswer(
  answer: string,
  { belowChars, nonce }: { belowChars: number; nonce: string },
): CheckedAnswer {
  const text = answer.replace(THINKING, "").replaceAll(CONTROLS, "").trim();
  if (text === "") return { text: null, why: "the answer is empty" };
  if (text.length <= MAX_REFUSAL_CHARS && REFUSAL.test(text)) return { text: null, why: "the model refused" };
  if (text.length >= belowChars) return { text: null, why: "the answer is too long" };
  if (text.includes(nonce)) return { text: null, why: "the answer repeats the prompt" };
  return { text };
}
