/** The file of all texts, in the format in which Rookery.Server.csproj packs it. */
export function packedManual(): Uint8Array
