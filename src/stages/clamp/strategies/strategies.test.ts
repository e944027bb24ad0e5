import { describe, it } from "vitest";
import { testStrategy } from "../../../testing/index.ts";
import { strategies } from "./index.ts";

for (const strategy of strategies) testStrategy(strategy, { describe, it });
