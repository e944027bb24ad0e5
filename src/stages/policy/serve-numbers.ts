import { type NumberRow, row } from "./defaults.ts";

const KIB = 1024;
const MIB = 1024 * KIB;
const GIB = 1024 * MIB;

/** The numbers of the gateway and the API. They stand apart so that a browser's bundle does not carry them. */
export const SERVE_NUMBERS = {
  apiRequestsPerSecond: row(50, 1, 100_000), // of one address to the API; a page that shows everything asks far less
  apiBurst: row(200, 1, 100_000), // as above, at once
  apiBodyBytes: row(16 * MIB, KIB, GIB), // a request to the API; an output that is tried under a policy stands in it
  apiLines: row(2000, 1, 100_000), // lines of an artifact given at once
  apiLineBytes: row(MIB, KIB, 64 * MIB), // what they take together; a longer line is shortened
  apiViews: row(16, 1, 1000), // outputs as a model read them, kept in memory since making one again reads all of it
  apiReadMs: row(3_600_000, 0, 86_400_000), // one event for all that a caller reads of an output in this time: a page reads as it scrolls
  apiFollowers: row(100, 1, 10_000), // readers that follow events at once
  serveHeaderBytes: row(64 * KIB, 8 * KIB, MIB), // all headers of a request; more is refused
  serveHeadersMs: row(10_000, 100, 600_000), // until all headers of a request are there
  serveRequestMs: row(300_000, 1000, 3_600_000), // until all of a request is there
  serveIdleMs: row(75_000, 1000, 3_600_000), // a connection without a request is kept open
  gatewayBodyBytes: row(64 * MIB, KIB, GIB), // a request to a model; no provider takes more
  gatewayConnectMs: row(10_000, 100, 600_000), // until a provider takes a connection
  gatewaySilentMs: row(900_000, 1000, 86_400_000), // a provider may say nothing for so long: models think for minutes
  gatherEventsMs: row(50, 0, 5000), // events of answered requests wait for others, so that one commit keeps them all
  serveStopMs: row(300_000, 0, 3_600_000), // answers may go on when the server is told to stop
} as const satisfies Record<string, NumberRow>;
