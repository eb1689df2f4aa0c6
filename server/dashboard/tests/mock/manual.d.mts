/** The file of all texts, as Rookery.Server.csproj packs it. */
export function packedManual(): Uint8Array
