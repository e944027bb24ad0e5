import { findAssigned, findCommandUser, findUrlPassword } from "./assigned-value.ts";
import { byteSet } from "./byte-set.ts";
import { compilePrograms } from "./compile-rules.ts";
import { findKeyStart, findPuttyKey } from "./key-block.ts";
import { hasDigit, hasRandomWord, isJumbled, isMixed, isRandom, isScattered, notPlaceholder } from "./likely-secret.ts";
import type { RedactionRule } from "./redaction-rule.ts";

/**
 * One rule: its name, its pattern, a text it must replace and one that it must leave alone (`<36>` stands for 36 letters and
 * digits, `<36 A>` for capitals and digits, `<36 a>` for small letters and digits, `<36 f>` and `<36 F>` for hexadecimal
 * digits, `<36 0>` for digits), and what else must hold.
 */
type Row = [name: string, pattern: string, sample: string, nearMiss: string, more?: More];

interface More extends Pick<RedactionRule, "accept" | "find" | "hidesBefore"> {
  ignoreCase?: boolean;
  /** A pattern of one length for what must stand right before. */
  before?: string;
}

/** Between a name and its value: quotes (also escaped ones), blanks, `=`, `:` or `=>`. */
const IS = String.raw`["'\\]{0,4}[ \t]{0,8}[:=]{1,2}>?[ \t]{0,8}["'\\]{0,4}`;
const TOKEN = "[A-Za-z0-9_-]";
const TOKEN_BYTES = byteSet("A-Za-z0-9_", "-");
const HEX = "[0-9a-f]";
const UUID = `${HEX}{8}-${HEX}{4}-${HEX}{4}-${HEX}{4}-${HEX}{12}`;
const NAMES = ["passw(?:or)?d|passphrase|passcode|pwd|secret|token|_auth|authorization|_pat|key"].join("|");
const hasNumber: More = { accept: hasDigit };
const random: More = { accept: isRandom };
const mixed: More = { accept: isMixed };

/**
 * The well-known shapes of secrets. Where two begin at the same byte, the earlier one names it. Counts are least counts:
 * what follows of the same characters belongs to the secret. A pattern with a group replaces that part only. A short
 * prefix has `\b` before it: it does not begin within a longer token. One that no word and no hash has needs none.
 */
export const ruleRows: readonly Row[] = [
  // Keys of their own kind.
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
  [
    "private-key",
    "LS0tLS1CRUdJTiB(?:SU0EgUFJJ|QUklWQVRF|FQyBQUklW|PUEVOU1NI|FTkNSWVBU|QR1AgUFJJ|EU0EgUFJJ)[A-Za-z0-9+/=]{20,}",
    "client-key-data: LS0tLS1CRUdJTiBSU0EgUFJJ<60>==",
    "certificate-data: LS0tLS1CRUdJTiBDRVJUSUZJ<60>==",
  ],
  [
    "private-key",
    String.raw`"[dk]"[ \t]{0,4}:[ \t]{0,4}"(${TOKEN}{42,})"`,
    '{"kty":"EC","d":"<43>"}',
    '{"kty":"EC","x":"<43>"}',
    random,
  ],
  ["age-key", "AGE-SECRET-KEY-(?:PQ-)?1[A-Z0-9]{50,}", "AGE-SECRET-KEY-1<58 A>", "AGE-SECRET-KEY-1<49 A>"],
  // Clouds.
  [
    "aws-secret-key",
    String.raw`A[KS]IA[A-Z0-9]{16}[,;:| \t]{1,3}[A-Za-z0-9+/]{40,}`,
    "AKIAIOSFODNN7EXAMPL2,<40>",
    "AKIAIOSFODNN7EXAMPL2,<39>",
  ],
  [
    "aws-access-key-id",
    String.raw`A[KS]IA[A-Z0-9]{16,}|\b(?:ABIA|ACCA|A3T[A-Z0-9])[A-Z0-9]{16}\b`,
    "AKIA<16 A>",
    "AKIA<15 A>",
  ],
  [
    "aws-secret-key",
    `(?:secret_?access_?key|aws_secret_key|aws_secret)${IS}([A-Za-z0-9+/]{40,})`,
    'aws_secret_access_key = "<40>"',
    'aws_secret_access_key = "<39>"',
    { ignoreCase: true },
  ],
  [
    "aws-session-token",
    "(?:IQoJb3JpZ2lu|[FA]QoGZXIvYXdz|FwoGZXIvYXdz|AQoDYXdz)[A-Za-z0-9+/=]{60,}",
    "IQoJb3JpZ2luX2Vj<100>",
    "IQoJb3JpZ2luX2Vj<55>",
  ],
  [
    "aws-bedrock-key",
    "ABSKQmVkcm9ja0FQSUtleS[A-Za-z0-9+/=]{40,}|bedrock-api-key-[A-Za-z0-9+/=]{40,}",
    "ABSKQmVkcm9ja0FQSUtleS<100>",
    "ABSKQmVkcm9ja0FQSUtleS<39>",
  ],
  [
    "amazon-token",
    String.raw`amzn\.mws\.${UUID}|amzn1\.oa2-cs\.v1\.${HEX}{60,}|\bAtz[ar]\|[A-Za-z0-9_-]{40,}`,
    "amzn.mws.<8 f>-<4 f>-<4 f>-<4 f>-<12 f>",
    "amzn.mws.<8 f>-<4 f>-<4 f>-<4 f>-<11 f>",
  ],
  ["google-api-key", String.raw`AIza${TOKEN}{35,}|\bAQ\.Ab${TOKEN}{40,}`, "AIza<35>", "AIza<34>"],
  ["google-oauth-secret", `GOCSPX-${TOKEN}{20,}`, "GOCSPX-<28>", "GOCSPX-<19>"],
  ["google-oauth-token", String.raw`\bya29\.[A-Za-z0-9._-]{20,}|\b1//0${TOKEN}{40,}`, "ya29.<40>", "ya29.<19>"],
  [
    "google-hmac-key",
    String.raw`\bGOOG1E[A-Z0-9]{50,}|\bGOOG[A-Z0-9]{16,20}\b`,
    "GOOG1E<57 A>",
    "GOOG<15 A>",
    hasNumber,
  ],
  [
    "firebase-key",
    `:APA91b${TOKEN}{100,}`,
    "AAAA<7>:APA91b<134>",
    "AAAA<7>:APA91b<99>",
    { before: "[A-Za-z0-9_-]{11}", hidesBefore: true },
  ],
  [
    "azure-storage-key",
    "(?:AccountKey|SharedAccessKey)=([A-Za-z0-9+/=]{40,})",
    "AccountName=x;AccountKey=<86>==",
    "AccountName=x;AccountKey=<39>",
  ],
  [
    "azure-key",
    "[0-9]Q~[A-Za-z0-9_.~-]{31,}",
    "abc8Q~<34>",
    "abc8Q~<30>",
    { before: "[A-Za-z0-9_.~-]{3}", hidesBefore: true },
  ],
  [
    "azure-key",
    "JQQJ9[9DH][A-Za-z0-9]{20,}",
    "<52>JQQJ99<26>",
    "<51>-JQQJ99<26>",
    { before: "[A-Za-z0-9]{52}", hidesBefore: true },
  ],
  [
    "azure-key",
    String.raw`(?:\+ASt|ACDb)[A-Za-z0-9+/]{5}==`,
    "<76>+ASt<5>==",
    "<75>-+ASt<5>==",
    { before: "[A-Za-z0-9+/]{76}", hidesBefore: true, accept: isMixed },
  ],
  [
    "azure-key",
    String.raw`(?:\+ACR|AzSe|AzFu|AzCa)[A-Za-z0-9+/]{5,6}={0,2}`,
    "<42>AzSe<6>",
    "<41>-AzSe<6>",
    { before: "[A-Za-z0-9+/]{42}", hidesBefore: true, accept: isMixed },
  ],
  [
    "azure-devops-token",
    "AZDO[A-Za-z0-9]{4,}",
    "<76>AZDO<4>",
    "<75>-AZDO<4>",
    { before: "[A-Za-z0-9]{76}", hidesBefore: true },
  ],
  [
    "signed-url",
    "[?&;](?:amp;)?(?:sig|X-Amz-Signature|X-Goog-Signature|X-Amz-Security-Token|Signature)=([A-Za-z0-9%+/=_-]{30,})",
    "https://x.blob.core.windows.net/c?sv=2024&sig=<43>%3D",
    "https://x.example/c?sv=2024&sig=<29>",
    hasNumber,
  ],
  [
    "digitalocean-token",
    String.raw`do[opr]_v1_[a-f0-9]{40,}|\bDO(?:00|80)[A-Z0-9]{16}\b`,
    "dop_v1_<64 f>",
    "dop_v1_<39 f>",
  ],
  ["heroku-key", `HRKU-${TOKEN}{30,}`, "HRKU-AA<58>", "HRKU-<29>"],
  ["fly-token", String.raw`fm(?:1[ar]|2)_[A-Za-z0-9+/=]{40,}|\bfo1_${TOKEN}{40,}`, "fm2_<120>", "fm2_<39>"],
  [
    "cloudflare-key",
    String.raw`\bv1\.0-[a-f0-9]{24}-[a-f0-9]{100,}|\bcf(?:k|ut|at)_[A-Za-z0-9]{40,}`,
    "cfut_<48>",
    "cfut_<39>",
  ],
  [
    "vercel-token",
    String.raw`vercel_blob_rw_[A-Za-z0-9_]{20,}|\bvc[pikar]_[A-Za-z0-9]{24,}`,
    "vcp_<56>",
    "vcp_<23>",
    hasNumber,
  ],
  ["netlify-token", String.raw`\bnf[pcoub]_[A-Za-z0-9]{36,}`, "nfp_<36>", "nfp_<35>"],
  ["render-key", String.raw`\brnd_[A-Za-z0-9]{28,}`, "rnd_<28>", "rnd_<27>", hasNumber],
  ["scalingo-token", String.raw`\btk-us-${TOKEN}{40,}`, "tk-us-<48>", "tk-us-<39>"],
  ["alibaba-key", String.raw`\bLTAI[A-Za-z0-9]{16,26}\b`, "LTAI<20>", "LTAI<15>", mixed],
  ["tencent-key", String.raw`\bAKID[A-Za-z0-9]{32,}`, "AKID<32>", "AKID<31>", mixed],
  [
    "yandex-key",
    String.raw`\bAQVN${TOKEN}{35,}|\by[0-3]_A${TOKEN}{40,}|\bt1\.${TOKEN}{20,}\.${TOKEN}{80,}`,
    "AQVN<36>",
    "AQVN<34>",
    random,
  ],
  ["scaleway-key", String.raw`\bSCW[A-Z0-9]{17}\b`, "SCW<17 A>", "SCW<16 A>", random],
  ["backblaze-key", String.raw`\bK00[0-9][A-Za-z0-9+/]{27}\b`, "K005<27>", "K005<26>", mixed],
  // Source hosts, CI, registries of packages.
  ["github-token", "gh[pousr]_[A-Za-z0-9]{30,}", "ghp_<36>", "ghp_<29>"],
  [
    "github-token",
    "hub_pat_[A-Za-z0-9_]{22,}",
    "github_pat_<82>",
    "github_pat_<21>",
    { before: "git", hidesBefore: true },
  ],
  [
    "gitlab-token",
    String.raw`gl(?:pat|ptt|dt|rtr?|cbt|agent|soat|ft|imt|oas|ffct|wt)-[A-Za-z0-9_.-]{20,}|\bGR1348941${TOKEN}{20,}|_gitlab_session=([0-9a-f]{32,})`,
    "glpat-<20>",
    "glpat-<19>",
  ],
  [
    "atlassian-token",
    String.raw`AT[AC]TT3[A-Za-z0-9_=-]{60,}|\bATBB[A-Za-z0-9_=.-]{24,}|\bATTA[0-9a-f]{60,}|\bBBDC-[A-Za-z0-9+/@_-]{40,}`,
    "ATATT3<100>",
    "ATATT3<59>",
    hasNumber,
  ],
  ["sourcegraph-token", `sg[pd]_(?:${HEX}{16}_|local_)?${HEX}{40,}`, "sgp_<40 f>", "sgp_<39 f>"],
  ["circleci-token", `CCIP(?:AT|RJ)_[A-Za-z0-9]{20,24}_${HEX}{40,}`, "CCIPAT_<22>_<40 f>", "CCIPAT_<22>_<39 f>"],
  ["buildkite-token", String.raw`\bbk(?:ua|ct|aj|pt)_[A-Za-z0-9]{38,}`, "bkua_<40 f>", "bkua_<37 f>"],
  [
    "harness-token",
    String.raw`\b[ps]at\.${TOKEN}{22}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{20,}`,
    "pat.<22>.<24>.<20>",
    "pat.<22>.<24>.<19>",
  ],
  ["octopus-key", String.raw`\bAPI-[A-Z0-9]{26,}`, "API-<26 A>", "API-<25 A>", random],
  ["sonar-token", String.raw`\bsq[uap]_[0-9a-f]{40,}`, "squ_<40 f>", "squ_<39 f>"],
  ["snyk-token", String.raw`\bsnyk_[us]at\.[A-Za-z0-9._-]{30,}`, "snyk_uat.<40>", "snyk_uat.<29>"],
  ["depot-token", String.raw`\bdepot_(?:org|project|user)_[A-Za-z0-9]{40,}`, "depot_org_<64>", "depot_org_<39>"],
  ["npm-token", "npm_[A-Za-z0-9]{36,}", "npm_<36>", "npm_<35>", hasNumber],
  ["pypi-token", `pypi-${TOKEN}{50,}`, "pypi-<100>", "pypi-<49>", hasNumber],
  ["rubygems-key", "gems_[0-9a-f]{40,}", "rubygems_<48 f>", "rubygems_<39 f>", { before: "ruby", hidesBefore: true }],
  ["crates-token", String.raw`\bcio[A-Za-z0-9]{32}\b`, "cio<32>", "cio<31>", mixed],
  ["nuget-key", String.raw`\boy2[a-z0-9]{43}\b`, "oy2<43 a>", "oy2<42 a>", random],
  ["docker-token", `dckr_(?:pat|oat)_${TOKEN}{20,}`, "dckr_pat_<27>", "dckr_pat_<19>"],
  [
    "docker-token",
    String.raw`"auth"[ \t]{0,4}:[ \t]{0,4}"([A-Za-z0-9+/=]{16,})"`,
    '{"auths":{"r.example":{"auth": "<28>"}}}',
    '{"auth": "<15>"}',
    { accept: isJumbled },
  ],
  ["jfrog-key", String.raw`\bAKCp[A-Za-z0-9]{60,}|\bcmVmd[A-Za-z0-9]{50,}`, "AKCp<69>", "AKCp<59>", hasNumber],
  ["clojars-token", "CLOJARS_[a-z0-9]{50,}", "CLOJARS_<60 f>", "CLOJARS_<49 f>"],
  ["deno-token", String.raw`\bdd[pow]_[A-Za-z0-9]{36,}`, "ddp_<36>", "ddp_<35>", hasNumber],
  [
    "packagist-token",
    "gist_[a-z]{2,4}_[0-9a-f]{60,}",
    "packagist_out_<68 f>",
    "packagist_out_<59 f>",
    { before: "packa", hidesBefore: true },
  ],
  // Chat.
  [
    "slack-token",
    String.raw`xox[a-z]-[A-Za-z0-9%+/=-]{10,}|\bxapp-[A-Za-z0-9-]{10,}|\bxwfp-[A-Za-z0-9-]{10,}`,
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
  [
    "discord-token",
    String.raw`\b[MNO][DTjz][AEIMQUYcgk][w-z0-5]${TOKEN}{14,24}\.${TOKEN}{6,7}\.${TOKEN}{27,}|\bmfa\.${TOKEN}{80,}`,
    "MTAx<20>.<6>.<38>",
    "MTAx<20>.<6>.<26>",
  ],
  [
    "discord-webhook",
    String.raw`discord(?:app)?\.com/api/webhooks/[0-9]{15,22}/(${TOKEN}{50,})`,
    "https://discord.com/api/webhooks/123456789012345678/<68>",
    "https://discord.com/api/webhooks/123456789012345678/<49>",
  ],
  [
    "teams-webhook",
    String.raw`\.office\.com/webhook(?:b2)?/([A-Za-z0-9@/-]{60,})`,
    "https://x.webhook.office.com/webhookb2/<8 f>-<4 f>@<36>/IncomingWebhook/<32 f>",
    "https://x.webhook.office.com/webhookb2/<59>",
  ],
  ["telegram-token", `:(AA${TOKEN}{32,})`, "123456789:AA<33>", "12345:AA<33>", { before: "[0-9]{6}" }],
  ["matrix-token", String.raw`\bsyt_[A-Za-z0-9_=-]{28,}`, "syt_<12>_<20>_<6>", "syt_<27>", random],
  [
    "zapier-webhook",
    String.raw`hooks\.zapier\.com/hooks/catch/([A-Za-z0-9/]{10,})`,
    "https://hooks.zapier.com/hooks/catch/<8 0>/<7>",
    "https://hooks.zapier.com/hooks/catch/<9>",
  ],
  // Payments.
  [
    "stripe-key",
    String.raw`[sr]k_(?:live|test|prod|org)_[A-Za-z0-9_]{16,}|\bwhsec_[A-Za-z0-9+/=]{24,}`,
    "sk_live_<24>",
    "sk_live_<15>",
    hasNumber,
  ],
  [
    "stripe-key",
    String.raw`\b(?:pi|seti|src|cs_live|cs_test)_[A-Za-z0-9]{14,}_secret_[A-Za-z0-9]{20,}`,
    "pi_<24>_secret_<25>",
    "pi_<24>_secret_<19>",
  ],
  [
    "square-token",
    String.raw`sq0(?:atp|csp|idp)-${TOKEN}{22,}|\bEAAA${TOKEN}{56,60}\b`,
    "sq0atp-<22>",
    "sq0atp-<21>",
    hasNumber,
  ],
  [
    "braintree-token",
    String.raw`ken\$(?:production|sandbox)\$[0-9a-z]{16}\$[0-9a-f]{32,}`,
    "access_token$production$<16 f>$<32 f>",
    "access_token$production$<16 f>$<31 f>",
    { before: "access_to", hidesBefore: true },
  ],
  ["adyen-key", String.raw`\bAQE[a-z]hmf[A-Za-z0-9+/=.-]{30,}`, "AQEyhmfx<60>", "AQEyhmfx<20>"],
  [
    "plaid-token",
    `ss-(?:sandbox|development|production)-${UUID}`,
    "access-sandbox-<8 f>-<4 f>-<4 f>-<4 f>-<12 f>",
    "access-sandbox-<8 f>-<4 f>-<4 f>-<4 f>-<11 f>",
    { before: "acce", hidesBefore: true },
  ],
  ["razorpay-key", String.raw`\brzp_(?:live|test)_[A-Za-z0-9]{14,}`, "rzp_live_<14>", "rzp_live_<13>", hasNumber],
  ["flutterwave-key", "FLWSECK(?:_TEST)?-[A-Za-z0-9-]{12,}", "FLWSECK_TEST-<32 f>-X", "FLWSECK_TEST-<11 f>", hasNumber],
  [
    "paddle-key",
    String.raw`\bpdl_(?:live|sdbx)_[A-Za-z0-9_]{40,}`,
    "pdl_live_apikey_<26 f>_<22>_<3>",
    "pdl_live_<39>",
    hasNumber,
  ],
  [
    "xendit-key",
    String.raw`\bxnd_(?:development|production)_[A-Za-z0-9]{30,}`,
    "xnd_production_<48>",
    "xnd_production_<29>",
    hasNumber,
  ],
  [
    "payment-key",
    "(?:ive|est)_[A-Za-z0-9]{30,}",
    "live_<35 f>",
    "test_thatNoWordsInCamelCaseAreAKey",
    { before: "[lt]", hidesBefore: true, accept: isScattered },
  ],
  // Mail and messages.
  ["sendgrid-key", String.raw`\bSG\.${TOKEN}{16,}\.${TOKEN}{16,}`, "SG.<22>.<43>", "SG.<22>.<15>"],
  ["mailgun-key", String.raw`\bkey-[0-9a-f]{32}\b`, "key-<32 f>", "key-<31 f>"],
  [
    "mailchimp-key",
    String.raw`-us[0-9]{1,2}\b`,
    "<32 f>-us12",
    "<31 f>-us12",
    { before: "[0-9a-f]{32}", hidesBefore: true },
  ],
  ["mandrill-key", String.raw`\bmd-${TOKEN}{22}\b`, "md-<22>", "md-<21>", mixed],
  ["resend-key", String.raw`\bre_[A-Za-z0-9_]{28,}`, "re_<8>_<24>", "re_words_of_no_use_to_anyone_2", mixed],
  ["brevo-key", "x(?:key|smtp)sib-[0-9a-f]{60,}-[A-Za-z0-9]{16,}", "xkeysib-<64 f>-<16>", "xkeysib-<64 f>-<15>"],
  ["mailersend-key", String.raw`\bmlsn\.[0-9a-f]{60,}`, "mlsn.<64 f>", "mlsn.<59 f>"],
  ["klaviyo-key", String.raw`\bpk_[0-9a-f]{34}\b`, "pk_<34 f>", "pk_<33 f>"],
  ["onesignal-key", "os_v2_(?:app|org)_[a-z0-9]{60,}", "os_v2_app_<100 a>", "os_v2_app_<59 a>"],
  ["telnyx-key", String.raw`\bKEY0[0-9A-F]{31,}_[A-Za-z0-9]{20,}`, "KEY0<31 F>_<22>", "KEY0<31 F>_<19>"],
  ["pubnub-key", String.raw`\bsec-c-[A-Za-z0-9]{40,}|\bsub-c-${UUID}`, "sec-c-<48>", "sec-c-<39>"],
  ["twilio-key", String.raw`\bSK[0-9a-f]{32,}\b`, "SK<32 f>", "SK<31 f>"],
  // Models and their tools.
  ["anthropic-key", `sk-ant-${TOKEN}{20,}`, "sk-ant-api03-<95>", "sk-ant-<19>", hasNumber],
  ["openrouter-key", `sk-or-${TOKEN}{20,}`, "sk-or-v1-<64 f>", "sk-or-<19>", hasNumber],
  ["langfuse-key", `sk-lf-${TOKEN}{20,}`, "sk-lf-<8 f>-<4 f>-<4 f>-<4 f>-<12 f>", "sk-lf-<19>", hasNumber],
  [
    "openai-key",
    String.raw`sk-(?:proj|svcacct|admin|None)-${TOKEN}{20,}|\bsk-${TOKEN}{20,}|\bsess-[A-Za-z0-9]{40,}`,
    "sk-<48>",
    "sk-learn-is-a-library-for-all",
    hasNumber,
  ],
  ["groq-key", "gsk_[A-Za-z0-9]{40,}", "gsk_<52>", "gsk_<39>", hasNumber],
  ["xai-key", String.raw`\bxai-[A-Za-z0-9]{60,}`, "xai-<80>", "xai-<59>", hasNumber],
  ["hugging-face-token", String.raw`\bhf_[A-Za-z0-9]{30,}|\bapi_org_[A-Za-z0-9]{30,}`, "hf_<34>", "hf_<29>"],
  ["replicate-token", String.raw`\br8_[A-Za-z0-9]{36,}`, "r8_<37>", "r8_<35>", hasNumber],
  ["perplexity-key", "pplx-[A-Za-z0-9]{40,}", "pplx-<48>", "pplx-<39>", hasNumber],
  ["fireworks-key", String.raw`\bfw_[A-Za-z0-9]{22,}`, "fw_<24>", "fw_<21>", { accept: isScattered }],
  ["together-key", `tgp_v1_${TOKEN}{36,}`, "tgp_v1_<43>", "tgp_v1_<35>", hasNumber],
  [
    "langsmith-key",
    String.raw`\blsv2_(?:pt|sk)_[a-z0-9]{32}_[a-z0-9]{10,}|\bls__[0-9a-f]{32,}`,
    "lsv2_pt_<32 f>_<10 f>",
    "lsv2_pt_<32 f>_<9 f>",
  ],
  ["cerebras-key", String.raw`\bcsk-[a-z0-9]{40,}`, "csk-<48 a>", "csk-<39 a>", random],
  ["nvidia-key", `nvapi-${TOKEN}{40,}`, "nvapi-<64>", "nvapi-<39>", hasNumber],
  ["elevenlabs-key", String.raw`\bsk_[0-9a-f]{40,}`, "sk_<48 f>", "sk_<39 f>", hasNumber],
  ["voyage-key", String.raw`\bpa-${TOKEN}{40,}`, "pa-<43>", "pa-<39>", mixed],
  ["jina-key", String.raw`\bjina_[A-Za-z0-9_-]{40,}`, "jina_<60>", "jina_<39>", hasNumber],
  ["tavily-key", String.raw`\btvly-[A-Za-z0-9-]{20,}`, "tvly-dev-<32>", "tvly-<19>", hasNumber],
  ["firecrawl-key", String.raw`\bfc-[0-9a-f]{32}\b`, "fc-<32 f>", "fc-<31 f>"],
  ["e2b-key", String.raw`\be2b_[0-9a-f]{40,}`, "e2b_<40 f>", "e2b_<39 f>"],
  ["modal-key", String.raw`\ba[ks]-[A-Za-z0-9]{22}\b`, "as-<22>", "as-<21>", mixed],
  ["pinecone-key", "pcsk_[A-Za-z0-9_]{40,}", "pcsk_<5>_<63>", "pcsk_<39>", hasNumber],
  ["llama-cloud-key", String.raw`\bllx-[A-Za-z0-9]{40,}`, "llx-<48>", "llx-<39>", hasNumber],
  ["cursor-key", String.raw`\bcrsr_[0-9a-f]{60,}|\bkey_[0-9a-f]{60,}`, "crsr_<64 f>", "crsr_<59 f>", hasNumber],
  ["runpod-key", String.raw`\brpa_[A-Z0-9]{40,}`, "rpa_<44 A>", "rpa_<39 A>", hasNumber],
  ["wandb-key", String.raw`\bwandb_v1_[A-Za-z0-9_]{40,}`, "wandb_v1_<77>", "wandb_v1_<39>", hasNumber],
  ["kaggle-key", String.raw`\bKGAT_[0-9a-f]{32,}`, "KGAT_<32 f>", "KGAT_<31 f>"],
  ["apify-token", "apify_api_[A-Za-z0-9]{30,}", "apify_api_<36>", "apify_api_<29>", hasNumber],
  ["brave-key", String.raw`\bBSA[A-Za-z0-9_-]{24,}`, "BSA<28>", "BSA<23>", mixed],
  // Watching.
  [
    "new-relic-key",
    String.raw`\bNR(?:AK|II|IQ|RA|SP|AA)-[A-Za-z0-9_-]{24,}|\bNRJS-[0-9a-f]{19,}`,
    "NRAK-<27 A>",
    "NRAK-<23 A>",
    hasNumber,
  ],
  [
    "new-relic-key",
    String.raw`NRAL\b`,
    "<36 f>NRAL",
    "<35 f>NRAL",
    { before: "[0-9a-zA-Z]{36}", hidesBefore: true, accept: isRandom },
  ],
  [
    "grafana-token",
    String.raw`glc_[A-Za-z0-9+/=]{32,}|glsa_[A-Za-z0-9]{32}_[A-Fa-f0-9]{8,}|\beyJrIjoi[A-Za-z0-9+/=]{40,}`,
    "glsa_<32>_<8 f>",
    "glsa_<32>_<7 f>",
    hasNumber,
  ],
  ["sentry-token", "sntry[usa]_[A-Za-z0-9+/=_-]{40,}", "sntryu_<64 f>", "sntryu_<39 f>"],
  ["honeycomb-key", String.raw`\bhc[abx](?:ik|mk|lk)_[a-z0-9]{40,}`, "hcaik_<58 a>", "hcaik_<39 a>"],
  [
    "dynatrace-token",
    String.raw`\bdt0[a-z][0-9]{2}\.[A-Z0-9]{8,}\.[A-Z0-9]{40,}`,
    "dt0c01.<24 A>.<64 A>",
    "dt0c01.<24 A>.<39 A>",
  ],
  [
    "axiom-token",
    String.raw`\bxa[ap]t-${UUID}`,
    "xaat-<8 f>-<4 f>-<4 f>-<4 f>-<12 f>",
    "xaat-<8 f>-<4 f>-<4 f>-<4 f>-<11 f>",
  ],
  [
    "launchdarkly-key",
    String.raw`\b(?:sdk|api|mob)-${HEX}{8}-${HEX}{4}-4${HEX}{3}-${HEX}{4}-${HEX}{12}\b`,
    "sdk-<8 f>-<4 f>-4<3 f>-<4 f>-<12 f>",
    "sdk-<8 f>-<4 f>-4<3 f>-<4 f>-<11 f>",
  ],
  ["posthog-key", String.raw`\bph[xsr]_[A-Za-z0-9]{40,}`, "phx_<43>", "phx_<39>", hasNumber],
  // Data.
  [
    "planetscale-token",
    "pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_=.-]{30,}",
    "pscale_tkn_<43>",
    "pscale_tkn_<29>",
    hasNumber,
  ],
  ["neon-key", String.raw`\bnapi_[a-z0-9]{40,}|\bnpg_[A-Za-z0-9]{12,}`, "napi_<64 a>", "napi_<39 a>", hasNumber],
  [
    "supabase-key",
    String.raw`\bsbp_(?:v0_)?[0-9a-f]{40,}|\bsb_secret_${TOKEN}{20,}`,
    "sbp_<40 f>",
    "sbp_<39 f>",
    hasNumber,
  ],
  ["databricks-token", String.raw`\bd(?:api|ose|kea)[0-9a-f]{32}(?:-[0-9])?\b`, "dapi<32 f>", "dapi<31 f>"],
  ["mongodb-key", `mdb_sa_sk_${TOKEN}{30,}`, "mdb_sa_sk_<40>", "mdb_sa_sk_<29>", hasNumber],
  ["clickhouse-key", String.raw`\b4b1d[A-Za-z0-9]{38}\b`, "4b1d<38>", "4b1d<37>", mixed],
  ["cockroach-key", String.raw`\bCCDB1_[A-Za-z0-9]{20,}_[A-Za-z0-9]{36,}`, "CCDB1_<22>_<40>", "CCDB1_<22>_<35>"],
  ["confluent-key", String.raw`\bcflt[A-Za-z0-9+/]{56,}`, "cflt<60>", "cflt<55>", mixed],
  ["aiven-password", `AVNS_${TOKEN}{16,}`, "AVNS_<19>", "AVNS_<15>", hasNumber],
  ["elastic-key", String.raw`\bessu_[A-Za-z0-9_=-]{30,}`, "essu_<60>", "essu_<29>", hasNumber],
  ["tinybird-token", String.raw`\bp\.eyJ${TOKEN}{20,}\.${TOKEN}{20,}`, "p.eyJ<40>.<43>", "p.eyJ<40>.<19>"],
  ["airtable-token", String.raw`\bpat[A-Za-z0-9]{14}\.[0-9a-f]{60,}`, "pat<14>.<64 f>", "pat<14>.<59 f>"],
  [
    "pgpass",
    String.raw`:5432:[^:\s]{1,63}:[^:\s]{1,63}:([^:\s]{6,})`,
    "db.example:5432:app:me:hunter22",
    "db.example:5432:app:me:$PASS1234",
    { accept: notPlaceholder },
  ],
  // Infrastructure.
  [
    "vault-token",
    String.raw`\bhv[sbr]\.${TOKEN}{20,}|\bs\.[A-Za-z0-9]{24}\b`,
    "hvs.<24>",
    "hvs.words-without-a-digit",
    mixed,
  ],
  [
    "terraform-token",
    String.raw`\.atlasv1\.[A-Za-z0-9_=-]{40,}`,
    "<14>.atlasv1.<67>",
    "<14>.atlasv1.<39>",
    { before: "[A-Za-z0-9]{14}", hidesBefore: true },
  ],
  [
    "doppler-token",
    String.raw`\bdp\.(?:pt|ct|sa|said|scim|audit)\.[A-Za-z0-9]{36,}|\bdp\.st\.(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{36,}`,
    "dp.pt.<43>",
    "dp.pt.<35>",
    hasNumber,
  ],
  ["pulumi-token", String.raw`\bpul-[0-9a-f]{40,}`, "pul-<40 f>", "pul-<39 f>"],
  ["1password-token", "ops_eyJ[A-Za-z0-9+/=]{60,}", "ops_eyJ<140>", "ops_eyJ<59>"],
  [
    "1password-token",
    String.raw`\bA3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})-[A-Z0-9]{5}-[A-Z0-9]{5}-[A-Z0-9]{5}\b`,
    "A3-<6 A>-<6 A>-<5 A>-<5 A>-<5 A>-<5 A>",
    "A3-<6 A>-<6 A>-<5 A>-<5 A>-<5 A>-<4 A>",
  ],
  [
    "tailscale-key",
    "tskey-[a-z]{2,10}-[A-Za-z0-9]{6,}-[A-Za-z0-9]{20,}",
    "tskey-auth-<13>-<32>",
    "tskey-auth-<13>-<19>",
  ],
  [
    "infisical-token",
    String.raw`\bst\.[0-9a-f]{24}\.[0-9a-f]{24,}\.[0-9a-f]{24,}`,
    "st.<24 f>.<32 f>.<32 f>",
    "st.<24 f>.<32 f>.<23 f>",
  ],
  ["openshift-token", `sha256~${TOKEN}{43,}`, "sha256~<43>", "sha256~<42>", mixed],
  ["rancher-token", String.raw`\btoken-[a-z0-9]{5}:([a-z0-9]{54,})`, "token-x7k2p:<54 a>", "token-x7k2p:<53 a>"],
  ["portainer-key", String.raw`\bptr_[A-Za-z0-9+/=]{40,}`, "ptr_<44>", "ptr_<39>", mixed],
  ["prefect-key", String.raw`\bpn[ub]_[A-Za-z0-9]{36,}`, "pnu_<36>", "pnu_<35>", hasNumber],
  ["infracost-key", String.raw`\bico-[A-Za-z0-9]{32}\b`, "ico-<32>", "ico-<31>", hasNumber],
  [
    "inngest-key",
    "key-(?:prod|test|branch)-[0-9a-f]{32,}",
    "signkey-prod-<64 f>",
    "signkey-prod-<31 f>",
    { before: "sign", hidesBefore: true },
  ],
  [
    "trigger-key",
    String.raw`\btr_(?:dev|prod|stg|preview|pat)_[A-Za-z0-9]{20,}`,
    "tr_prod_<20>",
    "tr_prod_<19>",
    random,
  ],
  ["n8n-key", String.raw`\bn8n_api_[0-9a-f]{60,}`, "n8n_api_<80 f>", "n8n_api_<59 f>"],
  ["ory-token", String.raw`\bory_(?:pat|at|rt|st|ac)_[A-Za-z0-9_.-]{30,}`, "ory_pat_<32>", "ory_pat_<29>", hasNumber],
  ["appwrite-key", "ard_[0-9a-f]{100,}", "standard_<140 f>", "standard_<99 f>", { before: "stand", hidesBefore: true }],
  ["defined-key", String.raw`\bdnkey-[A-Za-z0-9=_-]{70,}`, "dnkey-<26>-<52>", "dnkey-<69>"],
  // Other services.
  ["shopify-token", "shp(?:at|ca|pa|ss|ua|tka)_[A-Fa-f0-9]{32,}", "shpat_<32 f>", "shpat_<31 f>"],
  ["linear-key", "lin_(?:api|oauth|wh)_[A-Za-z0-9]{30,}", "lin_api_<40>", "lin_api_<29>", hasNumber],
  ["notion-token", String.raw`\bntn_[A-Za-z0-9]{40,}|\bsecret_[A-Za-z0-9]{40,}`, "ntn_<46>", "ntn_<39>", mixed],
  [
    "figma-token",
    `ig[douer]_${TOKEN}{36,}`,
    "figd_<40>",
    "figd_<35>",
    { before: "f", hidesBefore: true, accept: isMixed },
  ],
  [
    "hubspot-token",
    String.raw`\bpat-(?:na|eu|ap)[0-9]-${UUID}`,
    "pat-na1-<8 f>-<4 f>-<4 f>-<4 f>-<12 f>",
    "pat-na1-<8 f>-<4 f>-<4 f>-<4 f>-<11 f>",
  ],
  ["mapbox-token", String.raw`\b[st]k\.eyJ${TOKEN}{20,}\.${TOKEN}{16,}`, "sk.eyJ<60>.<22>", "sk.eyJ<60>.<15>"],
  ["postman-key", "PM(?:AK|AT)-[A-Za-z0-9-]{24,}", "PMAK-<24 f>-<34 f>", "PMAK-<23 f>", hasNumber],
  ["facebook-token", String.raw`\bEAA[A-Za-z0-9]{80,}`, "EAAG<120>", "EAAG<75>", mixed],
  [
    "twitter-token",
    "A{21}[A-Za-z0-9]{0,60}%[A-Za-z0-9%]{20,}",
    "AAAAAAAAAAAAAAAAAAAAAB<25>%3D<50>",
    "AAAAAAAAAAAAAAAAAAAAAB<25>%3D<10>",
  ],
  [
    "salesforce-token",
    "!AQ[A-Za-z0-9._]{60,}",
    "00D<12>!AQ<90>",
    "00D<12>!AQ<59>",
    { before: "00D[A-Za-z0-9]{12}", hidesBefore: true },
  ],
  ["dropbox-token", String.raw`\bsl\.[A-Za-z0-9_.-]{100,}`, "sl.<135>", "sl.<99>", mixed],
  ["clickup-token", String.raw`\bpk_[0-9]{6,12}_[A-Z0-9]{32}\b`, "pk_<8 0>_<32 A>", "pk_<8 0>_<31 A>"],
  ["typeform-token", String.raw`\btfp_[A-Za-z0-9_.=-]{40,}`, "tfp_<59>", "tfp_<39>", hasNumber],
  ["contentful-token", `CFPAT-${TOKEN}{40,}`, "CFPAT-<43>", "CFPAT-<39>"],
  ["intercom-token", String.raw`\bdG9rO[A-Za-z0-9+/=]{40,}`, "dG9rO<55>=", "dG9rO<39>"],
  ["sanity-token", String.raw`\bsk[A-Za-z0-9]{100,}`, "sk<140>", "sk<99>", mixed],
  ["adobe-secret", String.raw`\b[ps]8e-[A-Za-z0-9_-]{32,}`, "p8e-<32>", "p8e-<31>", hasNumber],
  ["shippo-token", "shippo_(?:live|test)_[A-Fa-f0-9]{36,}", "shippo_live_<40 f>", "shippo_live_<35 f>"],
  ["easypost-key", String.raw`\bEZ[AT]K[A-Za-z0-9]{50,}`, "EZAK<54>", "EZAK<49>", hasNumber],
  ["duffel-token", "duffel_(?:live|test)_[A-Za-z0-9_=-]{40,}", "duffel_test_<43>", "duffel_test_<39>", hasNumber],
  ["frameio-token", String.raw`\bfio-u-[A-Za-z0-9_=-]{50,}`, "fio-u-<64>", "fio-u-<49>", hasNumber],
  ["readme-key", String.raw`\brdme_[a-z0-9]{60,}`, "rdme_<70 a>", "rdme_<59 a>"],
  [
    "maxmind-key",
    String.raw`_mmk\b`,
    "<6>_<29>_mmk",
    "<5>_<29>_mmk",
    { before: "[A-Za-z0-9]{6}_[A-Za-z0-9]{29}", hidesBefore: true },
  ],
  ["codesandbox-token", String.raw`\bcsb_v1_${TOKEN}{30,}`, "csb_v1_<43>", "csb_v1_<29>", hasNumber],
  [
    "stytch-secret",
    String.raw`\bsecret-(?:live|test)-[A-Za-z0-9_=-]{30,}`,
    "secret-live-<36>",
    "secret-live-<29>",
    hasNumber,
  ],
  // Any service: a word that says key or token, then random characters.
  [
    "prefixed-token",
    "_(?:live|pat|sk|sat|secret|apikey|api_key|token|oauth)_([A-Za-z0-9]{24,})",
    "acme_pat_<32>",
    "acme_pat_<23>",
    { accept: isScattered },
  ],
  // By what stands around them.
  ["jwt", String.raw`\beyJ${TOKEN}{10,}\.${TOKEN}{10,}\.[A-Za-z0-9_.-]{10,}`, "eyJ<20>.<30>.<43>", "eyJ<20>.<30>"],
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
  [
    "cookie",
    String.raw`\b(?:set-)?cookie${IS}([^\s:="'\\<>][^"'\\<>]{15,})`,
    "Cookie: theme=dark; sid=<24>",
    "Cookie: theme=dark; lang=en-US",
    { ignoreCase: true, accept: hasRandomWord },
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
  const programs = compilePrograms({ pattern, ignoreCase }, 3).map((program) =>
    program.startsAfter === null ? program : { ...program, startsAfter: TOKEN_BYTES },
  );
  return before === undefined ? { name, programs, ...checks } : { name, programs, before: setsOf(before), ...checks };
});

function setsOf(pattern: string) {
  const items = compilePrograms({ pattern }, 1)[0]?.items ?? [];
  return items.flatMap(({ set, min }) => Array.from({ length: min }, () => set));
}
