using System.Text;
using Rookery.Documents.Ids;

namespace Rookery.Documents.Indexes;

/// <summary>
/// The replicated record of one index: its definition, which this project does not interpret, and its settings.
/// </summary>
public sealed record IndexRecord
{
    /// <summary>Maximum length of a name in bytes, as written and lower-cased.</summary>
    public const int MaxNameBytes = 512;

    /// <summary>Maximum length of a definition in bytes.</summary>
    public const int MaxDefinitionBytes = 256 << 10;

    /// <summary>
    /// Maximum number of indexes in a database, because each of them reads every write of its collections.
    /// </summary>
    public const int MaxCount = 1000;

    /// <summary>The name, in the casing of its definition. Names are compared without regard to casing.</summary>
    public required string Name { get; init; }

    /// <summary>
    /// Number of this definition in its database, from 1, never reused. An index that is defined again gets a new
    /// number.
    /// </summary>
    public required long Number { get; init; }

    /// <summary>The definition: JSON in a canonical form, so that equal definitions have equal bytes.</summary>
    public required ReadOnlyMemory<byte> Definition { get; init; }

    /// <summary>The settings of the index.</summary>
    public required IndexSettings Settings { get; init; }

    /// <summary>
    /// The definition that this one replaced; null if there was none. The old index answers queries until the new one
    /// has caught up.
    /// </summary>
    public ReplacedIndex? Replaced { get; init; }

    /// <summary>Etag of the write that stored this record; it rises with each change.</summary>
    public required long Version { get; init; }

    /// <summary>Returns why a name is not valid, in one sentence; null if it is valid.</summary>
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
    /// Returns the lower-cased name, by which names are compared. The proposer calls it, never apply: nodes may use
    /// different versions of Unicode.
    /// </summary>
    internal static byte[] LowerBytes(string name)
    {
        byte[] written = Encoding.UTF8.GetBytes(name);
        byte[] lower = new byte[2 * written.Length];
        return lower[..DocumentId.ToLower(written, lower)];
    }
}

/// <summary>A definition that a newer definition of the same name replaced.</summary>
/// <param name="Number">Its number.</param>
/// <param name="Definition">The replaced definition.</param>
public sealed record ReplacedIndex(long Number, ReadOnlyMemory<byte> Definition);
