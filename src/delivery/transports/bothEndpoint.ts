import { endpointKind } from "./endpointKind.ts";

/** Writes to the native inbox and to the pane of one agent, where the configuration asks for both. */
export const bothKind = endpointKind("both", {});
export const bothEndpoint = bothKind.make({});
