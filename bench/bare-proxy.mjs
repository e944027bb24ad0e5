// Passes every request on to one address and looks at nothing: what any gateway of node:http and undici costs at least.
import { createServer } from "node:http";
import { Agent } from "undici";

const [, , upstream] = process.argv;
const agent = new Agent({ pipelining: 1 });
const server = createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const { host: _host, connection: _connection, "content-length": _length, ...headers } = request.headers;
  const { method, url: path } = request;
  const answer = await agent.request({ origin: upstream, path, method, headers, body: Buffer.concat(chunks) });
  response.writeHead(answer.statusCode, answer.headers);
  for await (const chunk of answer.body) response.write(chunk);
  response.end();
});
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}`));
