import { findAssigned } from "./assigned-value.ts";
import { findBotToken } from "./bot-token.ts";
import { findCommandUser } from "./command-user.ts";
import { compilePrograms } from "./compile-rules.ts";
import { findKeyStart, findPuttyKey } from "./key-block.ts";
import { hasDigit, notPlaceholder } from "./plain-checks.ts";
import type { RedactionRule } from "./redaction-rule.ts";
import { findUrlPassword } from "./url-password.ts";

const rule = (
  name: string,
  pattern: string,
  more: Pick<RedactionRule, "accept" | "find"> & { ignoreCase?: boolean } = {},
): RedactionRule => {
  const { ignoreCase = false, ...checks } = more;
  return { name, programs: compilePrograms({ pattern, ignoreCase }, 3), ...checks };
};

/** Between a name and its value: quotes (also escaped ones), blanks, `=`, `:` or `=>`. */
const IS = String.raw`["'\\]{0,4}[ \t]{0,8}[:=]{1,2}>?[ \t]{0,8}["'\\]{0,4}`;
const TOKEN = "[A-Za-z0-9_-]";

/**
 * The well-known shapes of secrets. Where two begin at the same byte, the earlier one names it. Counts are least counts:
 * what follows of the same characters belongs to the secret.
 */
export const defaultRules: readonly RedactionRule[] = [
  rule("private-key", "BEGIN ", { find: findKeyStart }),
  rule("private-key", "Private-Lines: ", { find: findPuttyKey }),
  rule("age-key", "AGE-SECRET-KEY-1[A-Z0-9]{50,}"),
  rule("aws-access-key-id", String.raw`\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16,}`),
  rule("aws-secret-key", `(?:secret_?access_?key|aws_secret_key)${IS}([A-Za-z0-9+/]{40,})`, { ignoreCase: true }),
  rule("github-token", "gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{22,}"),
  rule("gitlab-token", `\\bgl(?:pat|ptt|dt|rt|cbt|agent|soat|ft)-${TOKEN}{20,}`),
  rule("slack-token", String.raw`\bxox[a-z]-[A-Za-z0-9-]{10,}|\bxapp-[A-Za-z0-9-]{10,}`, { accept: hasDigit }),
  rule("slack-webhook", String.raw`hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9/_-]{20,})`),
  rule("anthropic-key", `\\bsk-ant-${TOKEN}{20,}`),
  rule("openai-key", `\\bsk-${TOKEN}{20,}`, { accept: hasDigit }),
  rule("google-api-key", `\\bAIza${TOKEN}{35,}`),
  rule("google-oauth-secret", `\\bGOCSPX-${TOKEN}{20,}`),
  rule("google-oauth-token", String.raw`\bya29\.[A-Za-z0-9._-]{20,}`, { accept: hasDigit }),
  rule("vault-token", `\\bhv[sbr]\\.${TOKEN}{20,}`, { accept: hasDigit }),
  rule("telegram-token", `:AA${TOKEN}{32,}`, { find: findBotToken }),
  rule("stripe-key", String.raw`\b[sr]k_(?:live|test)_[A-Za-z0-9]{16,}|\bwhsec_[A-Za-z0-9+/=]{24,}`),
  rule("twilio-key", String.raw`\bSK[0-9a-f]{32,}\b`),
  rule("sendgrid-key", `\\bSG\\.${TOKEN}{16,}\\.${TOKEN}{16,}`),
  rule("npm-token", String.raw`\bnpm_[A-Za-z0-9]{36,}`),
  rule("pypi-token", `\\bpypi-${TOKEN}{50,}`),
  rule("hugging-face-token", String.raw`\bhf_[A-Za-z0-9]{30,}`),
  rule("digitalocean-token", String.raw`\bdo[opr]_v1_[a-f0-9]{40,}`),
  rule("azure-storage-key", "(?:AccountKey|SharedAccessKey)=([A-Za-z0-9+/=]{40,})"),
  rule("jwt", `\\beyJ${TOKEN}{10,}\\.${TOKEN}{10,}\\.[A-Za-z0-9_.-]{10,}`),
  rule("authorization", String.raw`authorization${IS}[a-z]{3,12}[ \t]{1,4}([^\s"'\\,;<>]{8,})`, {
    ignoreCase: true,
    accept: notPlaceholder,
  }),
  rule("authorization", String.raw`\bBearer[ \t]{1,4}([A-Za-z0-9._~+/=-]{20,})`, { accept: hasDigit }),
  rule("url-password", "://", { find: findUrlPassword }),
  rule("command-password", String.raw`\bcurl`, { find: findCommandUser }),
  rule(
    "assigned-secret",
    "passw(?:or)?d|passphrase|pwd|secret|token|api[_-]?key|(?:access|private|encryption|signing|auth)[_-]?key|_auth|authorization",
    { ignoreCase: true, find: findAssigned },
  ),
];
