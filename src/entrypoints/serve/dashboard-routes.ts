import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { dirname, extname, join } from "node:path";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { begin, Refusal } from "./answer.ts";
import { type Route, route } from "./route.ts";

const TYPES: Record<string, string> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

/** Scripts, styles and requests of this server's own only. Text of tools can become nothing else than text. */
const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "worker-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** The dashboard: one page with its files, which `npm run build` makes. What it shows it asks of the API. */
export function dashboardRoutes(folder: string = builtFolder()): Route[] {
  const files = new Map<string, Promise<{ bytes: Buffer; packed: Buffer }>>();
  const load = async (name: string) => {
    const bytes = await readFile(join(folder, name));
    return { bytes, packed: await promisify(gzip)(bytes) };
  };
  async function send(name: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const type = TYPES[extname(name)];
    const loading = type === undefined ? undefined : (files.get(name) ?? load(name));
    const file = await loading?.catch(() => undefined);
    if (loading === undefined || type === undefined || file === undefined) {
      const isBuilt = existsSync(join(folder, "index.html"));
      const why = isBuilt ? `there is no file ${name}` : "the dashboard is not built: npm run build makes it";
      throw new Refusal(404, "unknown-path", why);
    }
    files.set(name, loading);
    const isPacked = /\bgzip\b/.test(String(request.headers["accept-encoding"] ?? ""));
    const body = isPacked ? file.packed : file.bytes;
    begin(response, 200, {
      "content-type": type,
      "content-length": body.length,
      "content-security-policy": PAGE_POLICY,
      // The names of the files change with what is in them.
      "cache-control": name === "index.html" ? "no-cache" : "public, max-age=31536000, immutable",
      vary: "accept-encoding",
      ...(isPacked && { "content-encoding": "gzip" }),
    });
    response.end(body);
  }
  return [
    route({
      method: "GET",
      path: "/",
      role: null,
      summary: "The dashboard, a page for browsers.",
      answers: "text/html",
      answer: ({ request }, response) => send("index.html", request, response),
    }),
    route({
      method: "GET",
      path: "/assets/{file}",
      role: null,
      summary: "The scripts and styles of the dashboard.",
      answers: "text/javascript",
      answer: ({ named: { file = "" }, request }, response) => {
        // Names have no slash, so that nothing outside of the folder can be named.
        if (!/^[\w.-]+$/.test(file)) throw new Refusal(404, "unknown-path", "there is no such file");
        return send(join("assets", file), request, response);
      },
    }),
  ];
}

/** Where the build puts it: beside the command, and for what runs from source where it would be. */
function builtFolder(): string {
  let root = import.meta.dirname;
  while (!existsSync(join(root, "package.json")) && dirname(root) !== root) root = dirname(root);
  return join(root, "dist", "dashboard");
}
