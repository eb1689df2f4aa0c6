using Rookery.Platform;

namespace Rookery.Scripting.Compiling;

/// <summary>
/// A compiled script: constants, functions and instructions, encoded as bytes that a command of the log can contain.
/// </summary>
/// <remarks>
/// <c>[version u8][count varint] constants: [length varint][UTF-8] … [count varint] functions: [parameters
/// varint][locals varint][start varint] … instructions [lines]</c>. The first function is the script itself. The lines
/// (<see cref="LineTable"/>) are only in patches of several lines.
/// </remarks>
public sealed class ScriptProgram
{
    /// <summary>Maximum bytes of a program.</summary>
    public const int MaxBytes = 512 * 1024;

    // Versions of the encoding. A program has the second one only if it needs instructions that the first lacks.
    internal const byte FirstVersion = 1;
    internal const byte SecondVersion = 2;

    private readonly byte[] _bytes;

    internal ScriptProgram(byte[] bytes, IReadOnlyList<string> fields, IReadOnlyList<string> loadedCollections)
    {
        _bytes = bytes;
        Fields = fields;
        LoadedCollections = loadedCollections;
    }

    /// <summary>The encoded program.</summary>
    public ReadOnlyMemory<byte> Bytes => _bytes;

    /// <summary>
    /// Whether members that know only the first version of the encoding can run the program. It is false for programs
    /// with bitwise operators, <c>in</c>, <c>throw</c>, <c>for … in</c>, <c>sort</c> with a function, changes of
    /// metadata, functions from <see cref="ScriptFunction.NewPattern"/> on, further arguments of some methods, or
    /// <c>load</c> in a patch.
    /// </summary>
    public bool IsOfFirstVersion => _bytes[0] == FirstVersion;

    /// <summary>Member names of the object that the script returns, as far as they are literals in its text.</summary>
    public IReadOnlyList<string> Fields { get; }

    /// <summary>The collections of documents that the script loads.</summary>
    public IReadOnlyList<string> LoadedCollections { get; }

    /// <summary>
    /// Offsets in the text, in characters, of the calls of <c>boost</c> whose factors are left out.
    /// </summary>
    internal IReadOnlySet<int> Boosts { get; init; } = new HashSet<int>();

    /// <summary>Whether the script reads counters.</summary>
    public bool ReadsCounters { get; internal init; }

    /// <summary>Whether the script adds documents to the answer of a query.</summary>
    public bool IncludesDocuments { get; internal init; }

    /// <summary>Whether the script adds compare-exchange values to the answer of a query.</summary>
    public bool IncludesCompareExchange { get; internal init; }

    /// <summary>Maximum number of documents that a run of a patch stores or deletes.</summary>
    public const int MaxWrites = 256;

    /// <summary>Whether the script is a patch that loads, stores or deletes other documents.</summary>
    public bool ReachesDocuments { get; init; }

    /// <summary>Number of other documents that a run of the script may store or delete.</summary>
    public int Writes { get; init; }

    /// <summary>Reads a varint of a program.</summary>
    internal static int ReadNumber(ReadOnlySpan<byte> program, ref int at) =>
        Varint.TryRead(program, ref at, out int value) ? value : throw Broken();

    internal static ScriptFormatException Broken() =>
        new(
            "A compiled script does not decode although its checksum is right: a bug or a newer version wrote "
                + "it. Keep the data directory and report it."
        );
}

/// <summary>Thrown if the bytes of a compiled script do not decode.</summary>
/// <param name="message">The error in a sentence.</param>
public sealed class ScriptFormatException(string message) : Exception(message);
