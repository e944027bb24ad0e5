// Admits twice, so that a warning could come twice. The first output is small.
import { admitLarge } from "./app.mjs";

async function main() {
  const options = JSON.parse(process.argv[2]);
  await admitLarge({ ...options, lines: 1000 });
  process.stdout.write(JSON.stringify(await admitLarge(options)));
}
void main();
