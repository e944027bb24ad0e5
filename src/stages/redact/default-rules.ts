import { findAssigned, findCommandUser, findUrlPassword } from "./assigned-value.ts";
import { byteSet } from "./byte-set.ts";
import { compilePrograms } from "./compile-rules.ts";
import { findKeyStart, findPuttyKey } from "./key-block.ts";
import { hasDigit, hasRandomWord, isJumbled, isMixed, isRandom, isScattered, notPlaceholder } from "./likely-secret.ts";
import type { RedactionRule } from "./redaction-rule.ts";

/** A rule's name, its pattern, and what else must hold. test/secret-samples.ts has a text that it must replace, and a near miss. */
type Row = [name: string, pattern: string, more?: More];

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
const NAMES = "passw(?:or)?d|passphrase|passcode|pwd|secret|token|_auth|authorization|_pat|key";
const hasNumber: More = { accept: hasDigit };
const random: More = { accept: isRandom };
const mixed: More = { accept: isMixed };

/**
 * The well-known shapes of secrets. Where two begin at the same byte, the earlier one names it. Counts are least counts:
 * what follows of the same characters belongs to the secret. A pattern with a group replaces that part only. A short
 * prefix has `\b` before it: it does not begin within a longer token. One that no word and no hash has needs none.
 */
const ROWS: readonly Row[] = [
  // Keys of their own kind.
  ["private-key", "BEGIN ", { before: "-----", find: findKeyStart }],
  ["private-key", "Private-Lines: ", { find: findPuttyKey }],
  [
    "private-key",
    "LS0tLS1CRUdJTiB(?:SU0EgUFJJ|QUklWQVRF|FQyBQUklW|PUEVOU1NI|FTkNSWVBU|QR1AgUFJJ|EU0EgUFJJ)[A-Za-z0-9+/=]{20,}",
  ],
  ["private-key", String.raw`"[dk]"[ \t]{0,4}:[ \t]{0,4}"(${TOKEN}{42,})"`, random],
  ["age-key", "AGE-SECRET-KEY-(?:PQ-)?1[A-Z0-9]{50,}"],
  // Clouds.
  ["aws-secret-key", String.raw`A[KS]IA[A-Z0-9]{16}[,;:| \t]{1,3}[A-Za-z0-9+/]{40,}`],
  ["aws-access-key-id", String.raw`A[KS]IA[A-Z0-9]{16,}|\b(?:ABIA|ACCA|A3T[A-Z0-9])[A-Z0-9]{16}\b`],
  [
    "aws-secret-key",
    `(?:secret_?access_?key|aws_secret_key|aws_secret)${IS}([A-Za-z0-9+/]{40,})`,
    { ignoreCase: true },
  ],
  ["aws-session-token", "(?:IQoJb3JpZ2lu|[FA]QoGZXIvYXdz|FwoGZXIvYXdz|AQoDYXdz)[A-Za-z0-9+/=]{60,}"],
  ["aws-bedrock-key", "ABSKQmVkcm9ja0FQSUtleS[A-Za-z0-9+/=]{40,}|bedrock-api-key-[A-Za-z0-9+/=]{40,}"],
  ["amazon-token", String.raw`amzn\.mws\.${UUID}|amzn1\.oa2-cs\.v1\.${HEX}{60,}|\bAtz[ar]\|[A-Za-z0-9_-]{40,}`],
  ["google-api-key", String.raw`AIza${TOKEN}{35,}|\bAQ\.Ab${TOKEN}{40,}`],
  ["google-oauth-secret", `GOCSPX-${TOKEN}{20,}`],
  ["google-oauth-token", String.raw`\bya29\.[A-Za-z0-9._-]{20,}|\b1//0${TOKEN}{40,}`],
  ["google-hmac-key", String.raw`\bGOOG1E[A-Z0-9]{50,}|\bGOOG[A-Z0-9]{16,20}\b`, hasNumber],
  ["firebase-key", `:APA91b${TOKEN}{100,}`, { before: "[A-Za-z0-9_-]{11}", hidesBefore: true }],
  ["azure-storage-key", "(?:AccountKey|SharedAccessKey)=([A-Za-z0-9+/=]{40,})"],
  ["azure-key", "[0-9]Q~[A-Za-z0-9_.~-]{31,}", { before: "[A-Za-z0-9_.~-]{3}", hidesBefore: true }],
  ["azure-key", "JQQJ9[9DH][A-Za-z0-9]{20,}", { before: "[A-Za-z0-9]{52}", hidesBefore: true }],
  [
    "azure-key",
    String.raw`(?:\+ASt|ACDb)[A-Za-z0-9+/]{5}==`,
    { before: "[A-Za-z0-9+/]{76}", hidesBefore: true, accept: isMixed },
  ],
  [
    "azure-key",
    String.raw`(?:\+ACR|AzSe|AzFu|AzCa)[A-Za-z0-9+/]{5,6}={0,2}`,
    { before: "[A-Za-z0-9+/]{42}", hidesBefore: true, accept: isMixed },
  ],
  ["azure-devops-token", "AZDO[A-Za-z0-9]{4,}", { before: "[A-Za-z0-9]{76}", hidesBefore: true }],
  [
    "signed-url",
    "[?&;](?:amp;)?(?:sig|X-Amz-Signature|X-Goog-Signature|X-Amz-Security-Token|Signature)=([A-Za-z0-9%+/=_-]{30,})",
    hasNumber,
  ],
  ["digitalocean-token", String.raw`do[opr]_v1_[a-f0-9]{40,}|\bDO(?:00|80)[A-Z0-9]{16}\b`],
  ["heroku-key", `HRKU-${TOKEN}{30,}`],
  ["fly-token", String.raw`fm(?:1[ar]|2)_[A-Za-z0-9+/=]{40,}|\bfo1_${TOKEN}{40,}`],
  ["cloudflare-key", String.raw`\bv1\.0-[a-f0-9]{24}-[a-f0-9]{100,}|\bcf(?:k|ut|at)_[A-Za-z0-9]{40,}`],
  ["vercel-token", String.raw`vercel_blob_rw_[A-Za-z0-9_]{20,}|\bvc[pikar]_[A-Za-z0-9]{24,}`, hasNumber],
  ["netlify-token", String.raw`\bnf[pcoub]_[A-Za-z0-9]{36,}`],
  ["render-key", String.raw`\brnd_[A-Za-z0-9]{28,}`, hasNumber],
  ["scalingo-token", String.raw`\btk-us-${TOKEN}{40,}`],
  ["alibaba-key", String.raw`\bLTAI[A-Za-z0-9]{16,26}\b`, mixed],
  ["tencent-key", String.raw`\bAKID[A-Za-z0-9]{32,}`, mixed],
  ["yandex-key", String.raw`\bAQVN${TOKEN}{35,}|\by[0-3]_A${TOKEN}{40,}|\bt1\.${TOKEN}{20,}\.${TOKEN}{80,}`, random],
  ["scaleway-key", String.raw`\bSCW[A-Z0-9]{17}\b`, random],
  ["backblaze-key", String.raw`\bK00[0-9][A-Za-z0-9+/]{27}\b`, mixed],
  // Source hosts, CI, registries of packages.
  ["github-token", "gh[pousr]_[A-Za-z0-9]{30,}"],
  ["github-token", "hub_pat_[A-Za-z0-9_]{22,}", { before: "git", hidesBefore: true }],
  [
    "gitlab-token",
    String.raw`gl(?:pat|ptt|dt|rtr?|cbt|agent|soat|ft|imt|oas|ffct|wt)-[A-Za-z0-9_.-]{20,}|\bGR1348941${TOKEN}{20,}|_gitlab_session=([0-9a-f]{32,})`,
  ],
  [
    "atlassian-token",
    String.raw`AT[AC]TT3[A-Za-z0-9_=-]{60,}|\bATBB[A-Za-z0-9_=.-]{24,}|\bATTA[0-9a-f]{60,}|\bBBDC-[A-Za-z0-9+/@_-]{40,}`,
    hasNumber,
  ],
  ["sourcegraph-token", `sg[pd]_(?:${HEX}{16}_|local_)?${HEX}{40,}`],
  ["circleci-token", `CCIP(?:AT|RJ)_[A-Za-z0-9]{20,24}_${HEX}{40,}`],
  ["buildkite-token", String.raw`\bbk(?:ua|ct|aj|pt)_[A-Za-z0-9]{38,}`],
  ["harness-token", String.raw`\b[ps]at\.${TOKEN}{22}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{20,}`],
  ["octopus-key", String.raw`\bAPI-[A-Z0-9]{26,}`, random],
  ["sonar-token", String.raw`\bsq[uap]_[0-9a-f]{40,}`],
  ["snyk-token", String.raw`\bsnyk_[us]at\.[A-Za-z0-9._-]{30,}`],
  ["depot-token", String.raw`\bdepot_(?:org|project|user)_[A-Za-z0-9]{40,}`],
  ["npm-token", "npm_[A-Za-z0-9]{36,}", hasNumber],
  ["pypi-token", `pypi-${TOKEN}{50,}`, hasNumber],
  ["rubygems-key", "gems_[0-9a-f]{40,}", { before: "ruby", hidesBefore: true }],
  ["crates-token", String.raw`\bcio[A-Za-z0-9]{32}\b`, mixed],
  ["nuget-key", String.raw`\boy2[a-z0-9]{43}\b`, random],
  ["docker-token", `dckr_(?:pat|oat)_${TOKEN}{20,}`],
  ["docker-token", String.raw`"auth"[ \t]{0,4}:[ \t]{0,4}"([A-Za-z0-9+/=]{16,})"`, { accept: isJumbled }],
  ["jfrog-key", String.raw`\bAKCp[A-Za-z0-9]{60,}|\bcmVmd[A-Za-z0-9]{50,}`, hasNumber],
  ["clojars-token", "CLOJARS_[a-z0-9]{50,}"],
  ["deno-token", String.raw`\bdd[pow]_[A-Za-z0-9]{36,}`, hasNumber],
  ["packagist-token", "gist_[a-z]{2,4}_[0-9a-f]{60,}", { before: "packa", hidesBefore: true }],
  // Chat.
  [
    "slack-token",
    String.raw`xox[a-z]-[A-Za-z0-9%+/=-]{10,}|\bxapp-[A-Za-z0-9-]{10,}|\bxwfp-[A-Za-z0-9-]{10,}`,
    hasNumber,
  ],
  ["slack-webhook", String.raw`hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9/_-]{20,})`],
  [
    "discord-token",
    String.raw`\b[MNO][DTjz][AEIMQUYcgk][w-z0-5]${TOKEN}{14,24}\.${TOKEN}{6,7}\.${TOKEN}{27,}|\bmfa\.${TOKEN}{80,}`,
  ],
  ["discord-webhook", String.raw`discord(?:app)?\.com/api/webhooks/[0-9]{15,22}/(${TOKEN}{50,})`],
  ["teams-webhook", String.raw`\.office\.com/webhook(?:b2)?/([A-Za-z0-9@/-]{60,})`],
  ["telegram-token", `:(AA${TOKEN}{32,})`, { before: "[0-9]{6}" }],
  ["matrix-token", String.raw`\bsyt_[A-Za-z0-9_=-]{28,}`, random],
  ["zapier-webhook", String.raw`hooks\.zapier\.com/hooks/catch/([A-Za-z0-9/]{10,})`],
  // Payments.
  ["stripe-key", String.raw`[sr]k_(?:live|test|prod|org)_[A-Za-z0-9_]{16,}|\bwhsec_[A-Za-z0-9+/=]{24,}`, random],
  ["stripe-key", String.raw`\b(?:pi|seti|src|cs_live|cs_test)_[A-Za-z0-9]{14,}_secret_[A-Za-z0-9]{20,}`],
  ["square-token", String.raw`sq0(?:atp|csp|idp)-${TOKEN}{22,}|\bEAAA${TOKEN}{56,60}\b`, hasNumber],
  [
    "braintree-token",
    String.raw`ken\$(?:production|sandbox)\$[0-9a-z]{16}\$[0-9a-f]{32,}`,
    { before: "access_to", hidesBefore: true },
  ],
  ["adyen-key", String.raw`\bAQE[a-z]hmf[A-Za-z0-9+/=.-]{30,}`],
  ["plaid-token", `ss-(?:sandbox|development|production)-${UUID}`, { before: "acce", hidesBefore: true }],
  ["razorpay-key", String.raw`\brzp_(?:live|test)_[A-Za-z0-9]{14,}`, hasNumber],
  ["flutterwave-key", "FLWSECK(?:_TEST)?-[A-Za-z0-9-]{12,}", hasNumber],
  ["paddle-key", String.raw`\bpdl_(?:live|sdbx)_[A-Za-z0-9_]{40,}`, hasNumber],
  ["xendit-key", String.raw`\bxnd_(?:development|production)_[A-Za-z0-9]{30,}`, hasNumber],
  ["payment-key", "(?:ive|est)_[A-Za-z0-9]{30,}", { before: "[lt]", hidesBefore: true, accept: isScattered }],
  // Mail and messages.
  ["sendgrid-key", String.raw`\bSG\.${TOKEN}{16,}\.${TOKEN}{16,}`],
  ["mailgun-key", String.raw`\bkey-[0-9a-f]{32}\b`],
  ["mailchimp-key", String.raw`-us[0-9]{1,2}\b`, { before: "[0-9a-f]{32}", hidesBefore: true }],
  ["mandrill-key", String.raw`\bmd-${TOKEN}{22}\b`, mixed],
  ["resend-key", String.raw`\bre_[A-Za-z0-9_]{28,}`, mixed],
  ["brevo-key", "x(?:key|smtp)sib-[0-9a-f]{60,}-[A-Za-z0-9]{16,}"],
  ["mailersend-key", String.raw`\bmlsn\.[0-9a-f]{60,}`],
  ["klaviyo-key", String.raw`\bpk_[0-9a-f]{34}\b`],
  ["onesignal-key", "os_v2_(?:app|org)_[a-z0-9]{60,}"],
  ["telnyx-key", String.raw`\bKEY0[0-9A-F]{31,}_[A-Za-z0-9]{20,}`],
  ["pubnub-key", String.raw`\bsec-c-[A-Za-z0-9]{40,}|\bsub-c-${UUID}`],
  ["twilio-key", String.raw`\bSK[0-9a-f]{32,}\b`],
  // Models and their tools.
  ["anthropic-key", `sk-ant-${TOKEN}{20,}`, hasNumber],
  ["openrouter-key", `sk-or-${TOKEN}{20,}`, hasNumber],
  ["langfuse-key", `sk-lf-${TOKEN}{20,}`, hasNumber],
  [
    "openai-key",
    String.raw`sk-(?:proj|svcacct|admin|None)-${TOKEN}{20,}|\bsk-${TOKEN}{20,}|\bsess-[A-Za-z0-9]{40,}`,
    hasNumber,
  ],
  ["groq-key", "gsk_[A-Za-z0-9]{40,}", hasNumber],
  ["xai-key", String.raw`\bxai-[A-Za-z0-9]{60,}`, hasNumber],
  ["hugging-face-token", String.raw`\bhf_[A-Za-z0-9]{30,}|\bapi_org_[A-Za-z0-9]{30,}`],
  ["replicate-token", String.raw`\br8_[A-Za-z0-9]{36,}`, hasNumber],
  ["perplexity-key", "pplx-[A-Za-z0-9]{40,}", hasNumber],
  ["fireworks-key", String.raw`\bfw_[A-Za-z0-9]{22,}`, { accept: isScattered }],
  ["together-key", `tgp_v1_${TOKEN}{36,}`, hasNumber],
  ["langsmith-key", String.raw`\blsv2_(?:pt|sk)_[a-z0-9]{32}_[a-z0-9]{10,}|\bls__[0-9a-f]{32,}`],
  ["cerebras-key", String.raw`\bcsk-[a-z0-9]{40,}`, random],
  ["nvidia-key", `nvapi-${TOKEN}{40,}`, hasNumber],
  ["elevenlabs-key", String.raw`\bsk_[0-9a-f]{40,}`, hasNumber],
  ["voyage-key", String.raw`\bpa-${TOKEN}{40,}`, mixed],
  ["jina-key", String.raw`\bjina_[A-Za-z0-9_-]{40,}`, hasNumber],
  ["tavily-key", String.raw`\btvly-[A-Za-z0-9-]{20,}`, hasNumber],
  ["firecrawl-key", String.raw`\bfc-[0-9a-f]{32}\b`],
  ["e2b-key", String.raw`\be2b_[0-9a-f]{40,}`],
  ["modal-key", String.raw`\ba[ks]-[A-Za-z0-9]{22}\b`, mixed],
  ["pinecone-key", "pcsk_[A-Za-z0-9_]{40,}", hasNumber],
  ["llama-cloud-key", String.raw`\bllx-[A-Za-z0-9]{40,}`, hasNumber],
  ["cursor-key", String.raw`\bcrsr_[0-9a-f]{60,}|\bkey_[0-9a-f]{60,}`, hasNumber],
  ["runpod-key", String.raw`\brpa_[A-Z0-9]{40,}`, hasNumber],
  ["wandb-key", String.raw`\bwandb_v1_[A-Za-z0-9_]{40,}`, hasNumber],
  ["kaggle-key", String.raw`\bKGAT_[0-9a-f]{32,}`],
  ["apify-token", "apify_api_[A-Za-z0-9]{30,}", hasNumber],
  ["brave-key", String.raw`\bBSA[A-Za-z0-9_-]{24,}`, mixed],
  // Watching.
  ["new-relic-key", String.raw`\bNR(?:AK|II|IQ|RA|SP|AA)-[A-Za-z0-9_-]{24,}|\bNRJS-[0-9a-f]{19,}`, hasNumber],
  ["new-relic-key", String.raw`NRAL\b`, { before: "[0-9a-zA-Z]{36}", hidesBefore: true, accept: isRandom }],
  [
    "grafana-token",
    String.raw`glc_[A-Za-z0-9+/=]{32,}|glsa_[A-Za-z0-9]{32}_[A-Fa-f0-9]{8,}|\beyJrIjoi[A-Za-z0-9+/=]{40,}`,
    hasNumber,
  ],
  ["sentry-token", "sntry[usa]_[A-Za-z0-9+/=_-]{40,}"],
  ["honeycomb-key", String.raw`\bhc[abx](?:ik|mk|lk)_[a-z0-9]{40,}`],
  ["dynatrace-token", String.raw`\bdt0[a-z][0-9]{2}\.[A-Z0-9]{8,}\.[A-Z0-9]{40,}`],
  ["axiom-token", String.raw`\bxa[ap]t-${UUID}`],
  ["launchdarkly-key", String.raw`\b(?:sdk|api|mob)-${HEX}{8}-${HEX}{4}-4${HEX}{3}-${HEX}{4}-${HEX}{12}\b`],
  ["posthog-key", String.raw`\bph[xsr]_[A-Za-z0-9_]{40,}`, hasNumber],
  // Data.
  ["planetscale-token", "pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_=.-]{30,}", hasNumber],
  ["neon-key", String.raw`\bnapi_[a-z0-9]{40,}|\bnpg_[A-Za-z0-9]{12,}`, hasNumber],
  ["supabase-key", String.raw`\bsbp_(?:v0_)?[0-9a-f]{40,}|\bsb_secret_${TOKEN}{20,}`, hasNumber],
  ["databricks-token", String.raw`\bd(?:api|ose|kea)[0-9a-f]{32}(?:-[0-9])?\b`],
  ["mongodb-key", `mdb_sa_sk_${TOKEN}{30,}`, hasNumber],
  ["clickhouse-key", String.raw`\b4b1d[A-Za-z0-9]{38}\b`, mixed],
  ["cockroach-key", String.raw`\bCCDB1_[A-Za-z0-9]{20,}_[A-Za-z0-9]{36,}`],
  ["confluent-key", String.raw`\bcflt[A-Za-z0-9+/]{56,}`, mixed],
  ["aiven-password", `AVNS_${TOKEN}{16,}`, hasNumber],
  ["elastic-key", String.raw`\bessu_[A-Za-z0-9_=-]{30,}`, hasNumber],
  ["tinybird-token", String.raw`\bp\.eyJ${TOKEN}{20,}\.${TOKEN}{20,}`],
  ["airtable-token", String.raw`\bpat[A-Za-z0-9]{14}\.[0-9a-f]{60,}`],
  ["pgpass", String.raw`:5432:[^:\s]{1,63}:[^:\s]{1,63}:([^:\s]{6,})`, { accept: notPlaceholder }],
  // Infrastructure.
  ["vault-token", String.raw`\bhv[sbr]\.${TOKEN}{20,}|\bs\.[A-Za-z0-9]{24}\b`, mixed],
  ["terraform-token", String.raw`\.atlasv1\.[A-Za-z0-9_=-]{40,}`, { before: "[A-Za-z0-9]{14}", hidesBefore: true }],
  [
    "doppler-token",
    String.raw`\bdp\.(?:pt|ct|sa|said|scim|audit)\.[A-Za-z0-9]{36,}|\bdp\.st\.(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{36,}`,
    hasNumber,
  ],
  ["pulumi-token", String.raw`\bpul-[0-9a-f]{40,}`],
  ["1password-token", "ops_eyJ[A-Za-z0-9+/=]{60,}"],
  [
    "1password-token",
    String.raw`\bA3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})-[A-Z0-9]{5}-[A-Z0-9]{5}-[A-Z0-9]{5}\b`,
  ],
  ["tailscale-key", "tskey-[a-z]{2,10}-[A-Za-z0-9]{6,}-[A-Za-z0-9]{20,}"],
  ["infisical-token", String.raw`\bst\.[0-9a-f]{24}\.[0-9a-f]{24,}\.[0-9a-f]{24,}`],
  ["openshift-token", `sha256~${TOKEN}{43,}`, mixed],
  ["rancher-token", String.raw`\btoken-[a-z0-9]{5}:([a-z0-9]{54,})`],
  ["portainer-key", String.raw`\bptr_[A-Za-z0-9+/=]{40,}`, mixed],
  ["prefect-key", String.raw`\bpn[ub]_[A-Za-z0-9]{36,}`, hasNumber],
  ["infracost-key", String.raw`\bico-[A-Za-z0-9]{32}\b`, hasNumber],
  ["inngest-key", "key-(?:prod|test|branch)-[0-9a-f]{32,}", { before: "sign", hidesBefore: true }],
  ["trigger-key", String.raw`\btr_(?:dev|prod|stg|preview|pat)_[A-Za-z0-9]{20,}`, random],
  ["n8n-key", String.raw`\bn8n_api_[0-9a-f]{60,}`],
  ["ory-token", String.raw`\bory_(?:pat|at|rt|st|ac)_[A-Za-z0-9_.-]{30,}`, hasNumber],
  ["appwrite-key", "ard_[0-9a-f]{100,}", { before: "stand", hidesBefore: true }],
  ["defined-key", String.raw`\bdnkey-[A-Za-z0-9=_-]{70,}`],
  // Other services.
  ["shopify-token", "shp(?:at|ca|pa|ss|ua|tka)_[A-Fa-f0-9]{32,}"],
  ["linear-key", "lin_(?:api|oauth|wh)_[A-Za-z0-9]{30,}", hasNumber],
  ["notion-token", String.raw`\bntn_[A-Za-z0-9]{40,}|\bsecret_[A-Za-z0-9]{40,}`, mixed],
  ["figma-token", `ig[douer]_${TOKEN}{36,}`, { before: "f", hidesBefore: true, accept: isMixed }],
  ["hubspot-token", String.raw`\bpat-(?:na|eu|ap)[0-9]-${UUID}`],
  ["mapbox-token", String.raw`\b[st]k\.eyJ${TOKEN}{20,}\.${TOKEN}{16,}`],
  ["postman-key", "PM(?:AK|AT)-[A-Za-z0-9-]{24,}", hasNumber],
  ["facebook-token", String.raw`\bEAA[A-Za-z0-9]{80,}`, mixed],
  ["twitter-token", "A{21}[A-Za-z0-9]{0,60}%[A-Za-z0-9%]{20,}"],
  ["salesforce-token", "!AQ[A-Za-z0-9._]{60,}", { before: "00D[A-Za-z0-9]{12}", hidesBefore: true }],
  ["dropbox-token", String.raw`\bsl\.[A-Za-z0-9_.-]{100,}`, mixed],
  ["clickup-token", String.raw`\bpk_[0-9]{6,12}_[A-Z0-9]{32}\b`],
  ["typeform-token", String.raw`\btfp_[A-Za-z0-9_.=-]{40,}`, hasNumber],
  ["contentful-token", `CFPAT-${TOKEN}{40,}`],
  ["intercom-token", String.raw`\bdG9rO[A-Za-z0-9+/=]{40,}`],
  ["sanity-token", String.raw`\bsk[A-Za-z0-9]{79}\b|\bsk[A-Za-z0-9]{150,}`, mixed],
  ["adobe-secret", String.raw`\b[ps]8e-[A-Za-z0-9_-]{32,}`, hasNumber],
  ["shippo-token", "shippo_(?:live|test)_[A-Fa-f0-9]{36,}"],
  ["easypost-key", String.raw`\bEZ[AT]K[A-Za-z0-9]{50,}`, hasNumber],
  ["duffel-token", "duffel_(?:live|test)_[A-Za-z0-9_=-]{40,}", hasNumber],
  ["frameio-token", String.raw`\bfio-u-[A-Za-z0-9_=-]{50,}`, hasNumber],
  ["readme-key", String.raw`\brdme_[a-z0-9]{60,}`],
  ["maxmind-key", String.raw`_mmk\b`, { before: "[A-Za-z0-9]{6}_[A-Za-z0-9]{29}", hidesBefore: true }],
  ["codesandbox-token", String.raw`\bcsb_v1_${TOKEN}{30,}`, hasNumber],
  ["stytch-secret", String.raw`\bsecret-(?:live|test)-[A-Za-z0-9_=-]{30,}`, hasNumber],
  // Services of which nothing but a prefix and a shape needs to be known.
  [
    "service-token",
    String.raw`\b(?:aio|alcht|bxt|ctp|flp|jca|li[op]|ptk|sgp|tss|ucat|xau)_[A-Za-z0-9]{20,}`,
    { accept: isScattered },
  ],
  [
    "service-token",
    String.raw`\b(?:lsxs_pt|nyk_v0|polar_[a-z]at|pylf_v1_[a-z]{2}|ramp_sec|samsara_api|sindri|unkey|vtwn)_[A-Za-z0-9]{20,}|\bsm_[aps]at_[A-Za-z0-9]{16}`,
    hasNumber,
  ],
  [
    "service-token",
    String.raw`\b(?:dtn|rca|rootly|slk)_${HEX}{64}\b|\bs-s4t2(?:ud|af)-${HEX}{64}\b|\bpubkey-${HEX}{32}\b|\b(?:live|test)_pub_${HEX}{31}|\bcfsk_ma_(?:prod|test)_${HEX}{32}_${HEX}{8}|\bbb_(?:pr|ma)_${HEX}{32}|\bzpka_[a-z0-9]{32}_${HEX}{8}`,
  ],
  [
    "service-token",
    String.raw`\b(?:ovsx(?:at|p)|waka|persona_(?:production|sandbox)|pd[eu]s\+_[A-Z0-9]{7})_${UUID}|\brh-api-${UUID}`,
  ],
  ["service-token", "CONTRIBSYS__COM=([0-9a-f]{8}:[0-9a-f]{8})"],
  ["service-token", String.raw`:fx\b`, { before: UUID, hidesBefore: true }],
  [
    "service-token",
    String.raw`\b(?:m0|BBFF|BBUS|NF|wrk(?:aus|eu|jp|sg|trial|us)|secret)-[A-Za-z0-9]{30,}|\b(?:AKLT|cnvca)[A-Za-z0-9]{38,}|\bapp-[A-Za-z0-9]{24}\b|\b[ps]at_[A-Za-z0-9]{64}\b|bce-v3/ALTAK-[A-Za-z0-9]{21}/${HEX}{40}|\b(?:klarna_(?:live|test)_api|aact_(?:prod|hmlg)|lm[ab]|mb)_[A-Za-z0-9+/=:$-]{40,}`,
    mixed,
  ],
  [
    "service-token",
    String.raw`\b(?:live|sandbox)_[A-Za-z0-9_=-]{40,}|\bbb_(?:live|test)_${TOKEN}{24,}|\bdvc_(?:client|mobile|server)_${TOKEN}{30,}|Mid-server-${TOKEN}{20,}|\bshltm_${TOKEN}{40,}|\bEXO${HEX}{24}\b`,
    { accept: isScattered },
  ],
  [
    "service-token",
    String.raw`\bapi_(?:live|sandbox)(?:_(?:ca|us))?\.${TOKEN}{11}\.${TOKEN}{32}|\bv[1-4]\.(?:local|public)\.(${TOKEN}{40,})|\b1000\.${HEX}{32}\.${HEX}{32}\b|\bVF\.(?:(?:DM|WS)\.)?${HEX}{24}\.[A-Za-z0-9]{16}\b|\b(?:sc|ext|scauth|authress)_[a-z0-9]{5,30}\.[a-z0-9]{4,6}\.acc[_-][a-z0-9-]{10,32}\.[A-Za-z0-9+/_=-]{30,}`,
    random,
  ],
  [
    "service-token",
    String.raw`SWMTKN-1-[a-z0-9]{40,}-[a-z0-9]{20,}|SWMKEY-1-[A-Za-z0-9+/]{40,}|\bpina_[A-Z0-9]{60,}|\bakab-[a-z0-9]{16}-[a-z0-9]{16}\b|configcat-sdk-1/${TOKEN}{22}/${TOKEN}{22}|\b[12]/[0-9]{16}(?:/[0-9]{16})?:${HEX}{32}\b`,
  ],
  ["service-token", "msh[a-z0-9]{15}p1[a-z0-9]{6}jsn[a-z0-9]{12}", { before: "[a-z0-9]{10}", hidesBefore: true }],
  [
    "service-webhook",
    String.raw`open\.(?:feishu\.cn|larksuite\.com)/open-apis/bot/v2/hook/(${UUID})|hook\.[a-z0-9]{2,4}\.make\.com/([a-z0-9]{30,})`,
  ],
  // Any service: a word that says key or token, then random characters.
  [
    "prefixed-token",
    "_(?:live|pat|sk|sat|secret|apikey|api_key|token|oauth)_([A-Za-z0-9]{24,})",
    { accept: isScattered },
  ],
  // By what stands around them.
  ["jwt", String.raw`\beyJ${TOKEN}{10,}\.${TOKEN}{10,}\.[A-Za-z0-9_.-]{10,}|\bZXlK[A-Za-z0-9+/=]{60,}`],
  [
    "authorization",
    String.raw`authorization${IS}[a-z]{3,12}[ \t]{1,4}([^\s"'\\,;<>]{8,})`,
    { ignoreCase: true, accept: notPlaceholder },
  ],
  ["authorization", String.raw`\b(?:Bearer|SSWS)[ \t]{1,4}([A-Za-z0-9._~+/=-]{20,})`, hasNumber],
  [
    "cookie",
    String.raw`\b(?:set-)?cookie${IS}([^\s:="'\\<>][^"'\\<>]{15,})`,
    { ignoreCase: true, accept: hasRandomWord },
  ],
  ["url-password", "://", { find: findUrlPassword }],
  ["command-password", String.raw`\bcurl`, { find: findCommandUser }],
  ["assigned-secret", NAMES, { ignoreCase: true, find: findAssigned }],
];

/** The rules that hold where nobody says otherwise. */
export const defaultRules: readonly RedactionRule[] = ROWS.map(([name, pattern, more = {}]) => {
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
