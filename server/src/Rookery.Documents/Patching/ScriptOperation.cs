using Rookery.Documents.Nodes;

namespace Rookery.Documents.Patching;

/// <summary>An operation of a patch script. Numbers are part of the journal's format.</summary>
internal enum ScriptOperation : byte
{
    /// <summary><c>this.P = args.v</c>.</summary>
    Assign = 1,

    /// <summary><c>this.P = this.P ? this.P + args.v : args.v</c>.</summary>
    Increment = 2,

    /// <summary><c>this.P.push(args.v)</c>; one operation per argument.</summary>
    Push = 3,

    /// <summary><c>this.P.splice(args.v, 1)</c>.</summary>
    RemoveAt = 4,

    /// <summary><c>delete this.P</c>.</summary>
    Delete = 5,
}

/// <summary>The kind of a patch program. Numbers are part of the journal's format.</summary>
internal enum ProgramKind : byte
{
    /// <summary>
    /// A merge patch: <c>[create if missing u8][collection change u8][expiry change u8][expires i64][content]</c>.
    /// </summary>
    Merge = 1,

    /// <summary>
    /// A list of operations: <c>[script varint+bytes][missing kind u8]</c>, then the content of the missing kind.
    /// </summary>
    Script = 2,

    /// <summary>
    /// An interpreted script: <c>[program varint+bytes][arguments varint+JSON][missing kind u8]</c>, then the content
    /// of the missing kind. Needs <see cref="FormatLevel.Scripts"/>.
    /// </summary>
    Compiled = 3,

    /// <summary>
    /// A JSON Patch: for each operation <c>[operation u8][path varint+bytes][operand varint+bytes]</c>. The paths are
    /// JSON pointers; the operand is a path for move and copy, minified JSON for add, replace and test. Needs
    /// <see cref="FormatLevel.JsonPatches"/>.
    /// </summary>
    JsonPatch = 4,

    /// <summary>
    /// As <see cref="Compiled"/>, for scripts that load, store or delete other documents. After the kind follows
    /// <c>[etags u16]</c>: the etags after that of the patch, which are reserved for the documents that it stores or
    /// deletes. Needs <see cref="FormatLevel.ScriptsOfSecondVersion"/>.
    /// </summary>
    Reaching = 5,
}

/// <summary>
/// What a script's program does if the document does not exist. Numbers are part of the journal's format.
/// </summary>
internal enum MissingKind : byte
{
    /// <summary>Nothing.</summary>
    Nothing = 0,

    /// <summary>Runs a list of operations on an empty document: <c>[script]</c>.</summary>
    RunScript = 1,

    /// <summary>Stores a document: <c>[expires i64][content]</c>.</summary>
    StoreDocument = 2,

    /// <summary>
    /// Runs an interpreted script on an empty document: <c>[program varint+bytes][arguments varint+JSON]</c>. Needs
    /// <see cref="FormatLevel.Scripts"/>.
    /// </summary>
    RunCompiled = 3,
}
