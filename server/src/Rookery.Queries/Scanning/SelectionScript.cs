using Rookery.Scripting.Compiling;

namespace Rookery.Queries.Scanning;

/// <summary>
/// A selection that is a script: what it makes of a result. Thread-safe; each answer runs it with an interpreter of its
/// own.
/// </summary>
/// <param name="Program">The script. It is given the document, and <paramref name="Arguments"/>.</param>
/// <param name="Arguments">The query's parameters: an object, as JSON.</param>
/// <param name="Position">Characters of the query before it.</param>
public sealed record SelectionScript(ScriptProgram Program, ReadOnlyMemory<byte> Arguments, int Position);
