/** What came back. */
export interface Posted {
  status: number;
  text: string;
}

/** Sends JSON and reads at most `maxBytes` of the answer. */
export async function postJson(
  address: URL,
  headers: Record<string, string>,
  body: unknown,
  maxBytes: number,
  signal: AbortSignal,
): Promise<Posted> {
  const response = await fetch(address, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
    // A key must not follow a redirect to somebody else.
    redirect: "error",
    signal,
  });
  return { status: response.status, text: await readAtMost(response, maxBytes) };
}

async function readAtMost({ body }: Response, maxBytes: number): Promise<string> {
  if (body === null) return "";
  const decoder = new TextDecoder();
  const reader = body.getReader();
  let text = "";
  let bytes = 0;
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return text + decoder.decode();
    bytes += value.length;
    if (bytes > maxBytes) {
      await reader.cancel();
      throw new Error(`the answer is over ${maxBytes} bytes`);
    }
    text += decoder.decode(value, { stream: true });
  }
}
