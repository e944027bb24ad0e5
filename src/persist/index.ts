export { newHistories } from "./histories.ts";
