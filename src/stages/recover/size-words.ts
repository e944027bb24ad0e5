// Families of words by which a sentence says that a request has too many tokens, whoever wrote it. The sentence names what
// was sent, that it is too much and what it is measured by, and has no word that means another sort of limit.

/** Matches any of these words, each a piece of a regular expression. An underscore ends a word too. */
function anyOf(...words: string[]): RegExp {
  return new RegExp(`(?<![a-z0-9])(?:${words.join("|")})(?![a-z0-9])`);
}

const SENT = anyOf(
  "prompts?|inputs?|messages?|conversations?|history|contexts?|sequences?|query|requests?|requested|n_keep|tokens?|current length",
);
const TOO_MUCH = anyOf(
  "exceed(?:s|ed|ing)?|surpass(?:es|ed)?",
  "(?<!must be |should be )(?:longer|larger|greater|bigger|higher) than|more (?:tokens )?than|over (?:the|its)",
  "too (?:long|large|big|many)",
  "(?:must|should) (?:be|have|contain) (?:less|fewer|shorter|smaller|lower) than|(?:must|should) be (?:at most|no more than|under|below|<=?)",
  "r[au]n out of|out of context|no room (?:left )?in|(?:does not|doesn't|do not|don't|cannot|can't|will not|won't) fit|>=? ?(?:\\d+|n_ctx)",
);
const MEASURE = anyOf("tokens?|context|lengths?|windows?|n_ctx|num_ctx|seq_len|model_len|kv (?:size|cache)");

/** What was sent needs no measure if it is said to be long or large. */
const LONG = anyOf(
  "(?:prompt|input|context|conversation|history|messages)(?: text| size| content)?(?: \\([a-z ]+\\))?(?: is| are| was| were| has grown)?[ _]too[ _](?:long|large|big)",
  "message (?:is|was) too (?:long|large|big)",
);
const CONTEXT_OVERFLOW =
  /(?<![a-z])context(?: window| length)? overflow(?:ed)?(?: error| detected| occurred)?(?:[:,!.(]|$)/;

/** Limits of another sort: of time or money, on files, on a field, of the answer or of the machine. */
const OTHER_LIMIT = anyOf(
  "(?:per|this|each|every|a)[ -](?:second|minute|min|hour|day|week|month)|daily|monthly|time ?frame|deadline|seconds|tim(?:ed|e) ?out",
  "tpm|tpd|rpm|rpd|rates?|per-model|quotas?|credits?|balance|billing|plan|subscription|accounts?|organi[sz]ations?|concurren[a-z]*",
  "images?|pixels?|files?|uploads?|attachments?|pdfs?|pages|audio|videos?|bytes?|[kmg]i?b|characters?|chars",
  "arrays?|strings?|items|elements|tools?|functions?|mcp|schema|enum|depth|headers?|urls?|names?|(?<!_|(?:trace|request)[ -])id|fields?",
  "batch(?! generation failed)|batches|embeddings?|documents?|(?<!(?:reply|completion|token|cache) )budget|thinking|temperature|top_p|log(?:probs|it_bias)|stop sequences|train(?:ed|ing)?",
  "cookies?|passwords?|credentials?|auth[a-z]*|access|api[ _]?keys?|jwt|bearer|expired|gpu[a-z_]*|memory|stored in kv cache|too small|minimum",
);
/** The answer's limit says nothing of what was sent. */
const PARAMETER =
  /(?:(?:max|min)_?(?:new_?|output_?|completion_?)?tokens|max (?:new|output|completion) tokens|truncate_prompt_tokens)(?: ?[(=] ?\d+(?: ?\))?)?/g;
const ANSWER = anyOf("(?:output|completion|response|answer|generated|reasoning)s?");
const REQUEST = anyOf("prompts?|inputs?|messages?|contexts?|history|conversations?|total");

const CHINESE = {
  sent: /输入|上下文|提示|对话|请求|消息|内容|历史|prompt|tokens?/,
  tooMuch: /超过|超出|超长|过长|太长|超限|大于|过多|太多/,
  measure: /长|上下文|tokens?|字数|上限/,
  otherLimit:
    /分钟|每天|每日|每秒|频|速率|并发|次数|余额|额度|配额|费|图|文件|(?<!减少)附件|音频|视频|字节|工具|批|向量|输出|超时|密/,
};

/** The sizes that a text about too many tokens names. */
export interface NamedSizes {
  observed?: number;
  limit?: number;
}

/** Returns the sentence that says that a request has too many tokens, or null. The text must be in its normal form. */
export function findSizeWords(text: string): string | null {
  const sentences = text.split(/(?<=[.!?;])\s+|(?<=[。！；])/);
  const said = sentences.find((sentence) => saysTooMuch(sentence) || saysTooMuchInChinese(sentence));
  if (said !== undefined) return said;
  return [...sentences, text].find(statesBothSizes) ?? null;
}

/** Some say no word about it: "Prompt is 11543 tokens but the model context window is 4096 tokens." */
function statesBothSizes(whole: string): boolean {
  const { observed, limit } = readNamedSizes(whole);
  const words = whole.replace(PARAMETER, "");
  const isSaid = REQUEST.test(words) || /(?:provided|sent|used) [\d,]+ tokens/.test(words);
  const isBoth = observed !== undefined && limit !== undefined && isSaid && /token|length/.test(words);
  return isBoth && !OTHER_LIMIT.test(words) && !ANSWER.test(words);
}

function saysTooMuch(whole: string): boolean {
  if (OTHER_LIMIT.test(whole)) return false;
  const sentence = whole.replace(PARAMETER, "");
  if (ANSWER.test(sentence) && !REQUEST.test(sentence)) return false;
  if (LONG.test(sentence) || CONTEXT_OVERFLOW.test(sentence)) return true;
  return SENT.test(sentence) && TOO_MUCH.test(sentence) && MEASURE.test(sentence);
}

function saysTooMuchInChinese(sentence: string): boolean {
  const { sent, tooMuch, measure, otherLimit } = CHINESE;
  return sent.test(sentence) && tooMuch.test(sentence) && measure.test(sentence) && !otherLimit.test(sentence);
}

const NUMBER = String.raw`(?<![\w.-])(\d{1,3}(?:[,_.']\d{3})+(?!\d)|\d+)(k)?(?![\w%]| (?:characters|chars|bytes))`;
/** No sentence ends here and no other number stands here, but a model's name may have digits. */
const UP_TO_NUMBER = String.raw`(?:[^\d.;。]|(?<=[a-z-])\d[\d.]*){0,60}?`;
/** "{observed} ... exceeds ... {limit}": what stands before such words is what was sent, what stands after is the limit. */
const COMPARED = new RegExp(
  `(?:${NUMBER} \\+ )?${NUMBER}${UP_TO_NUMBER}(?:exceed|than |more |over |>| / |must be|requested,|超过|超出|大于)${UP_TO_NUMBER}${NUMBER}`,
);
const LIMIT = new RegExp(
  `(?:max|maximum|limit(?! exceeded)|context|exceed(?!ed:|\\w* by)\\w*|than|supports?|allows?|only|up to|at most|上限|最大|超过|超出)${UP_TO_NUMBER}${NUMBER}`,
);
const OBSERVED = new RegExp(
  `(?:requested|resulted in|contains?|has|got|given|rec(?:ei|ie)ved|supplied|passed|provided|sent|take|used|uses|needs|requires|estimated|projected|token count|(?<!max |maximum )(?:number of|total) (?:(?:prompt|input) )?tokens(?: \\([a-z +]+\\))?(?=:? \\d)|(?:input|prompt) length of|too (?:long|large|big)|(?:prompt|input|request) (?:is|was|\\()|实际|当前)${UP_TO_NUMBER}${NUMBER}`,
);

const STATUS = /(?:^\D{0,30}|\b(?:code|status|http|error)\W{1,3})[45]\d\d\b(?! tokens)/g;
/** A smaller number that stands alone counts something else, such as tries. */
const LEAST_TOKENS = 100;

/** Reads what was sent and what is allowed. Leaves both out if the first is not over the second. */
export function readNamedSizes(whole: string): NamedSizes {
  const text = whole.replace(STATUS, "").replace(PARAMETER, "");
  const compared = COMPARED.exec(text);
  if (compared !== null) {
    const observed = toNumber(compared[1], compared[2]) + toNumber(compared[3], compared[4]);
    const limit = toNumber(compared[5], compared[6]);
    if (observed > limit) return { observed, limit };
  }
  let [most, sent] = [LIMIT.exec(text), OBSERVED.exec(text)];
  // One number is what the words next to it say. The other one comes after it.
  if (most !== null && sent !== null && endOf(most) === endOf(sent)) {
    const rest = text.slice(endOf(most));
    if (most.index > sent.index) sent = OBSERVED.exec(rest);
    else most = LIMIT.exec(rest);
  }
  const limit = toNumber(most?.[1], most?.[2]);
  const observed = toNumber(sent?.[1], sent?.[2]);
  if (most === null || sent === null)
    return { ...(limit >= LEAST_TOKENS && { limit }), ...(observed >= LEAST_TOKENS && { observed }) };
  return observed > limit ? { observed, limit } : {};
}

function endOf(found: RegExpExecArray): number {
  return found.index + found[0].length;
}

function toNumber(digits: string | undefined, thousands: string | undefined): number {
  if (digits === undefined) return 0;
  return Number(digits.replace(/\D/g, "")) * (thousands === undefined ? 1 : 1000);
}
