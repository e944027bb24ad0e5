import { once } from "node:events";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";

/** What goes wrong with requests that a filter chooses. */
export type HttpFault =
  | { answer: number }
  /** Breaks the connection once so many bytes of the body were passed on. */
  | { cutAfterBytes: number }
  /** Passes only so many bytes of the answer on, and then breaks the connection. */
  | { answerBytes: number }
  | { delayMs: number };

/** A proxy before a real server, through which things go wrong. */
export interface FaultyProxy {
  url: string;
  /** Null lets everything pass. */
  fault: HttpFault | null;
  /** How many requests met the fault. */
  met: number;
  /** Which requests meet it: all, unless this is set. */
  filter: (method: string, path: string) => boolean;
  close(): Promise<void>;
}

/** Starts it. The name by which it is asked is passed on, because requests are signed with it. */
export async function startFaultyProxy(target: string): Promise<FaultyProxy> {
  const { hostname, port } = new URL(target);
  const server = createServer((incoming, outgoing) => {
    const { method = "", url = "", headers } = incoming;
    const fault = proxy.fault !== null && proxy.filter(method, url) ? proxy.fault : null;
    if (fault !== null) proxy.met += 1;
    if (fault !== null && "answer" in fault) {
      incoming.resume();
      outgoing.writeHead(fault.answer).end();
      return;
    }
    const pass = () => {
      const upstream = request({ hostname, port, method, path: url, headers }, (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
        if (fault === null || !("answerBytes" in fault)) return void answer.pipe(outgoing);
        answer.once("data", (bytes: Buffer) => {
          outgoing.write(bytes.subarray(0, fault.answerBytes), () => outgoing.destroy());
          answer.destroy();
        });
      });
      upstream.on("error", () => outgoing.destroy());
      if (fault === null || !("cutAfterBytes" in fault)) return void incoming.pipe(upstream);
      let passed = 0;
      incoming.on("data", (bytes: Buffer) => {
        passed += bytes.length;
        if (passed < fault.cutAfterBytes) return void upstream.write(bytes);
        incoming.socket.destroy();
        upstream.destroy();
      });
      incoming.on("end", () => upstream.end());
    };
    if (fault !== null && "delayMs" in fault) setTimeout(pass, fault.delayMs).unref();
    else pass();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const proxy: FaultyProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    fault: null,
    met: 0,
    filter: () => true,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
  return proxy;
}
