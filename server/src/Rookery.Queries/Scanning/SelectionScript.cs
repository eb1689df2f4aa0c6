using Rookery.Scripting.Compiling;

namespace Rookery.Queries.Scanning;

/// <summary>
/// A selection by a script, which computes each result. Thread-safe; each answer runs it in its own interpreter.
/// </summary>
/// <param name="Program">The script. Its arguments are the document and <paramref name="Arguments"/>.</param>
/// <param name="Arguments">The query's parameters, a JSON object.</param>
/// <param name="Position">The script's position in the query's text.</param>
public sealed record SelectionScript(ScriptProgram Program, ReadOnlyMemory<byte> Arguments, int Position);
