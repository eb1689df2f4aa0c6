using System.Text;
using Rookery.Documents.Ids;

namespace Rookery.Documents.Indexes;

/// <summary>
/// What the log says of one index of a database: its definition, which only its reader understands, and how it is kept.
/// </summary>
public sealed record IndexRecord
{
    /// <summary>Bytes of a name at most, as written and lower-cased.</summary>
    public const int MaxNameBytes = 512;

    /// <summary>Bytes of a definition at most.</summary>
    public const int MaxDefinitionBytes = 256 << 10;

    /// <summary>Indexes of a database at most: each follows every write of its collection.</summary>
    public const int MaxCount = 1000;

    /// <summary>The name, in the case it was defined with. Names are equal without case.</summary>
    public required string Name { get; init; }

    /// <summary>
    /// The number of this definition in its database, from 1, never given to another one: an index that is defined anew
    /// has a new number.
    /// </summary>
    public required long Number { get; init; }

    /// <summary>
    /// The definition: JSON as its writer brought it to one form, so that equal definitions are equal bytes.
    /// </summary>
    public required ReadOnlyMemory<byte> Definition { get; init; }

    /// <summary>How it is kept.</summary>
    public required IndexSettings Settings { get; init; }

    /// <summary>
    /// The definition that this one replaced; null when there was none. What was built by it serves until what is built
    /// by this one has caught up.
    /// </summary>
    public ReplacedIndex? Replaced { get; init; }

    /// <summary>The etag of the write that stored the record: it rises with each change.</summary>
    public required long Version { get; init; }

    /// <summary>Why a text is no name, in a sentence; null when it is one.</summary>
    public static string? NameProblem(string? name)
    {
        if (string.IsNullOrWhiteSpace(name))
        {
            return "An index needs a name.";
        }

        if (name.Any(char.IsControl) || name.Any(char.IsSurrogate))
        {
            return "The name of an index has no control characters, and none beyond the basic plane of Unicode.";
        }

        return Encoding.UTF8.GetByteCount(name) > MaxNameBytes || LowerBytes(name).Length > MaxNameBytes
            ? $"The name of an index takes at most {MaxNameBytes} bytes of UTF-8."
            : null;
    }

    /// <summary>
    /// The form by which a name is compared. Made where a command is made, never in apply: runtimes may know other
    /// versions of Unicode.
    /// </summary>
    internal static byte[] LowerBytes(string name)
    {
        byte[] written = Encoding.UTF8.GetBytes(name);
        byte[] lower = new byte[2 * written.Length];
        return lower[..DocumentId.ToLower(written, lower)];
    }
}

/// <summary>A definition that was replaced by another of the same name.</summary>
/// <param name="Number">Its number.</param>
/// <param name="Definition">What it was.</param>
public sealed record ReplacedIndex(long Number, ReadOnlyMemory<byte> Definition);
