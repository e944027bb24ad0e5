import { benchArtifacts } from "./artifacts.mjs";
import { benchClamp } from "./clamp.mjs";
import { benchDashboard } from "./dashboard.mjs";
import { runBenches } from "./entry.mjs";
import { benchFetch } from "./fetch.mjs";
import { benchGateway } from "./gateway.mjs";
import { benchMcp } from "./mcp.mjs";
import { benchPrepare } from "./prepare.mjs";
import { benchRefusals } from "./refusals.mjs";
import { benchReplay } from "./replay.mjs";
import { benchStartUp } from "./start-up.mjs";
import { benchStream } from "./stream.mjs";

// Peers come last: they fill the memory of this process, and starting a child from a large one takes longer.
await runBenches([
  benchStream,
  benchArtifacts,
  benchStartUp,
  benchMcp,
  benchPrepare,
  benchFetch,
  benchGateway,
  benchDashboard,
  benchRefusals,
  benchReplay,
  benchClamp,
]);
