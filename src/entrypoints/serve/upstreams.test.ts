import { expect, it } from "vitest";
import { newDestinations, PUBLIC_UPSTREAMS } from "./upstreams.ts";

it.each([
  "https://api.example.com/v1?key=k",
  "https://api.example.com/v1#part",
  "https://me@api.example.com",
  "https://:hunter22x@api.example.com",
  "ftp://api.example.com",
  "api.example.com",
])("refuses %s as an upstream, and repeats no password", (address) => {
  const refused = () => newDestinations({ ...PUBLIC_UPSTREAMS, openai: address }, []);
  expect(refused).toThrow(/^the upstream of openai must be an address such as/);
  expect(refused).not.toThrow(/hunter22x/);
  expect(() => newDestinations(PUBLIC_UPSTREAMS, [address])).toThrow(/^an allowed upstream must be/);
});
