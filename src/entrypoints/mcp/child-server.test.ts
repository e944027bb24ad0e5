import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { expect, it } from "vitest";
import { startChildServer } from "./child-server.ts";

it("a server that is stopped takes the processes that it started with it", async () => {
  const listener = createServer();
  await once(listener.listen(0, "127.0.0.1"), "listening");
  const { port } = listener.address() as AddressInfo;
  const connect = `require("net").connect(${port}, "127.0.0.1").on("error", () => {}).resume()`;
  const serve = `require("child_process").spawn(process.execPath, ["-e", ${JSON.stringify(connect)}], { stdio: "ignore" });
    process.stdin.resume().on("end", () => process.exit())`;
  const none = async () => {};
  const connected = once(listener, "connection") as Promise<[Socket]>;
  const server = startChildServer([process.execPath, "-e", serve], {
    message: none,
    tooLong: none,
    failed: none,
    gone: none,
    unable: () => {},
    greeting: () => [],
  });
  const [socket] = await connected;
  try {
    const closed = once(
      socket.resume().on("error", () => {}),
      "close",
    );
    await server.stop();
    await closed;
    expect(socket.destroyed).toBe(true);
  } finally {
    // Ends what was left running, too.
    socket.destroy();
    listener.close();
  }
});
