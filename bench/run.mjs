import { benchArtifacts } from "./artifacts.mjs";
import { benchClamp } from "./clamp.mjs";
import { runBenches } from "./entry.mjs";
import { benchStartUp } from "./start-up.mjs";
import { benchStream } from "./stream.mjs";

// Peers come last: they fill the memory of this process, and starting a child from a large one takes longer.
await runBenches([benchStream, benchArtifacts, benchStartUp, benchClamp]);
