import { findAssigned } from "./assigned-value.ts";
import { findCommandUser } from "./command-user.ts";
import { compilePrograms } from "./compile-rules.ts";
import { findKeyStart, findPuttyKey } from "./key-block.ts";
import { hasDigit, notPlaceholder } from "./likely-secret.ts";
import type { RedactionRule } from "./redaction-rule.ts";
import { findUrlPassword } from "./url-password.ts";

/**
 * One rule: its name, its pattern, a text it must replace and one that it must leave alone (`<36>` stands for 36 letters and
 * digits, `<36 A>` for capitals and digits, `<36 f>` for hexadecimal digits), and what else must hold.
 */
type Row = [name: string, pattern: string, sample: string, nearMiss: string, more?: More];

interface More extends Pick<RedactionRule, "accept" | "find"> {
  ignoreCase?: boolean;
  /** A pattern of one length for what must stand right before. */
  before?: string;
}

/** Between a name and its value: quotes (also escaped ones), blanks, `=`, `:` or `=>`. */
const IS = String.raw`["'\\]{0,4}[ \t]{0,8}[:=]{1,2}>?[ \t]{0,8}["'\\]{0,4}`;
const TOKEN = "[A-Za-z0-9_-]";
const NAMES =
  "passw(?:or)?d|passphrase|pwd|secret|token|api[_-]?key|(?:access|private|encryption|signing|auth)[_-]?key|_auth|authorization";
const hasNumber: More = { accept: hasDigit };

/**
 * The well-known shapes of secrets. Where two begin at the same byte, the earlier one names it. Counts are least counts:
 * what follows of the same characters belongs to the secret. A pattern with a group replaces that part only.
 */
export const ruleRows: readonly Row[] = [
  [
    "private-key",
    "BEGIN ",
    "-----BEGIN RSA PRIVATE KEY-----\n<64>\n-----END RSA PRIVATE KEY-----",
    "---- BEGIN RSA PRIVATE KEY-----\n<64>\n-----END RSA PRIVATE KEY-----",
    { before: "-----", find: findKeyStart },
  ],
  [
    "private-key",
    "Private-Lines: ",
    "Private-Lines: 1\n<64>\nPrivate-MAC: ",
    "Public-Lines: 1\n<64>\n",
    { find: findPuttyKey },
  ],
  ["age-key", "AGE-SECRET-KEY-1[A-Z0-9]{50,}", "AGE-SECRET-KEY-1<58 A>", "AGE-SECRET-KEY-1<49 A>"],
  ["aws-access-key-id", String.raw`\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16,}`, "AKIA<16 A>", "AKIA<15 A>"],
  [
    "aws-secret-key",
    `(?:secret_?access_?key|aws_secret_key)${IS}([A-Za-z0-9+/]{40,})`,
    'aws_secret_access_key = "<40>"',
    'aws_secret_access_key = "<39>"',
    { ignoreCase: true },
  ],
  ["github-token", "gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{22,}", "ghp_<36>", "ghp_<29>"],
  ["gitlab-token", `\\bgl(?:pat|ptt|dt|rt|cbt|agent|soat|ft)-${TOKEN}{20,}`, "glpat-<20>", "xglpat-<20>"],
  [
    "slack-token",
    String.raw`\bxox[a-z]-[A-Za-z0-9-]{10,}|\bxapp-[A-Za-z0-9-]{10,}`,
    "xoxb-<24>",
    "xoxb-words-without-a-digit",
    hasNumber,
  ],
  [
    "slack-webhook",
    String.raw`hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9/_-]{20,})`,
    "https://hooks.slack.com/services/<24>",
    "https://hooks.slack.com/services/<19>",
  ],
  ["anthropic-key", `\\bsk-ant-${TOKEN}{20,}`, "sk-ant-api03-<95>", "sk-ant-<19>"],
  ["openai-key", `\\bsk-${TOKEN}{20,}`, "sk-<48>", "sk-learn-is-a-library-for-all", hasNumber],
  ["google-api-key", `\\bAIza${TOKEN}{35,}`, "AIza<35>", "AIza<34>"],
  ["google-oauth-secret", `\\bGOCSPX-${TOKEN}{20,}`, "GOCSPX-<28>", "GOCSPX-<19>"],
  ["google-oauth-token", String.raw`\bya29\.[A-Za-z0-9._-]{20,}`, "ya29.<40>", "ya29.<19>"],
  ["vault-token", `\\bhv[sbr]\\.${TOKEN}{20,}`, "hvs.<24>", "hvs.words-without-a-digit", hasNumber],
  ["telegram-token", `:(AA${TOKEN}{32,})`, "123456789:AA<33>", "12345:AA<33>", { before: "[0-9]{6}" }],
  [
    "stripe-key",
    String.raw`\b[sr]k_(?:live|test)_[A-Za-z0-9]{16,}|\bwhsec_[A-Za-z0-9+/=]{24,}`,
    "sk_live_<24>",
    "sk_live_<15>",
  ],
  ["twilio-key", String.raw`\bSK[0-9a-f]{32,}\b`, "SK<32 f>", "SK<31 f>"],
  ["sendgrid-key", `\\bSG\\.${TOKEN}{16,}\\.${TOKEN}{16,}`, "SG.<22>.<43>", "SG.<22>.<15>"],
  ["npm-token", String.raw`\bnpm_[A-Za-z0-9]{36,}`, "npm_<36>", "npm_<35>"],
  ["pypi-token", `\\bpypi-${TOKEN}{50,}`, "pypi-<100>", "pypi-<49>"],
  ["hugging-face-token", String.raw`\bhf_[A-Za-z0-9]{30,}`, "hf_<34>", "hf_<29>"],
  ["digitalocean-token", String.raw`\bdo[opr]_v1_[a-f0-9]{40,}`, "dop_v1_<64 f>", "dop_v1_<39 f>"],
  [
    "azure-storage-key",
    "(?:AccountKey|SharedAccessKey)=([A-Za-z0-9+/=]{40,})",
    "AccountName=x;AccountKey=<86>==",
    "AccountName=x;AccountKey=<39>",
  ],
  ["jwt", `\\beyJ${TOKEN}{10,}\\.${TOKEN}{10,}\\.[A-Za-z0-9_.-]{10,}`, "eyJ<20>.<30>.<43>", "eyJ<20>.<30>"],
  [
    "authorization",
    String.raw`authorization${IS}[a-z]{3,12}[ \t]{1,4}([^\s"'\\,;<>]{8,})`,
    "Authorization: Basic <24>",
    "Authorization: Basic $CREDENTIALS",
    { ignoreCase: true, accept: notPlaceholder },
  ],
  [
    "authorization",
    String.raw`\bBearer[ \t]{1,4}([A-Za-z0-9._~+/=-]{20,})`,
    "Bearer <24>",
    "Bearer words-without-a-digit",
    hasNumber,
  ],
  ["url-password", "://", "postgres://app:s3cr3t@db/x", "https://example.com:8080/@scope/x", { find: findUrlPassword }],
  [
    "command-password",
    String.raw`\bcurl`,
    "curl -u admin:hunter2 http://h",
    "curl -u $USER:$PASS http://h",
    { find: findCommandUser },
  ],
  [
    "assigned-secret",
    NAMES,
    "DB_PASSWORD=hunter22x",
    "password: string; token = null",
    { ignoreCase: true, find: findAssigned },
  ],
];

/** The rules that hold where nobody says otherwise. */
export const defaultRules: readonly RedactionRule[] = ruleRows.map(([name, pattern, , , more = {}]) => {
  const { ignoreCase = false, before, ...checks } = more;
  const programs = compilePrograms({ pattern, ignoreCase }, 3);
  return before === undefined ? { name, programs, ...checks } : { name, programs, before: setsOf(before), ...checks };
});

function setsOf(pattern: string) {
  const items = compilePrograms({ pattern }, 1)[0]?.items ?? [];
  return items.flatMap(({ set, min }) => Array.from({ length: min }, () => set));
}
