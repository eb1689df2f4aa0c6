using Rookery.Documents.Nodes;

namespace Rookery.Documents.Patching;

/// <summary>What one line of a patch script does. Numbers are part of the journal's format.</summary>
internal enum ScriptOperation : byte
{
    /// <summary><c>this.P = args.v</c>.</summary>
    Assign = 1,

    /// <summary><c>this.P = this.P ? this.P + args.v : args.v</c>.</summary>
    Increment = 2,

    /// <summary><c>this.P.push(args.v)</c>; one for each argument.</summary>
    Push = 3,

    /// <summary><c>this.P.splice(args.v, 1)</c>.</summary>
    RemoveAt = 4,

    /// <summary><c>delete this.P</c>.</summary>
    Delete = 5,
}

/// <summary>What a program holds. Numbers are part of the journal's format.</summary>
internal enum ProgramKind : byte
{
    /// <summary>
    /// A merge patch: <c>[create if missing u8][collection change u8][expiry change u8][expires i64][content]</c>.
    /// </summary>
    Merge = 1,

    /// <summary>A script: <c>[script varint+bytes][missing kind u8]</c>, then what to do without a document.</summary>
    Script = 2,

    /// <summary>
    /// A script of any form: <c>[program varint+bytes][arguments varint+JSON][missing kind u8]</c>, then what to do
    /// without a document. From <see cref="FormatLevel.Scripts"/> on.
    /// </summary>
    Compiled = 3,
}

/// <summary>What a script's program does where there is no document.</summary>
internal enum MissingKind : byte
{
    /// <summary>Nothing.</summary>
    Nothing = 0,

    /// <summary>Runs another script on an empty document: <c>[script]</c>.</summary>
    RunScript = 1,

    /// <summary>Stores a document: <c>[expires i64][content]</c>.</summary>
    StoreDocument = 2,

    /// <summary>
    /// Runs a script of any form on an empty document: <c>[program varint+bytes][arguments varint+JSON]</c>. From
    /// <see cref="FormatLevel.Scripts"/> on.
    /// </summary>
    RunCompiled = 3,
}
