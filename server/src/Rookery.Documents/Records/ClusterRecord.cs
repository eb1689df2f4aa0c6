using System.Buffers;

namespace Rookery.Documents.Records;

/// <summary>
/// A small replicated key-value record on which all members agree, for example about a member or a token.
/// </summary>
/// <param name="Key">1 to <see cref="MaxKeyBytes"/> printable ASCII characters without blanks, such as <c>member/</c>
/// with a node's id (<see cref="ClusterRecordPrefix"/>).</param>
/// <param name="Value">0 to <see cref="MaxValueBytes"/> bytes, which this project does not interpret.</param>
/// <param name="Version">Etag of the write that stored the record, above 0. A change can require it.</param>
public sealed record ClusterRecord(string Key, ReadOnlyMemory<byte> Value, long Version)
{
    /// <summary>Maximum length of a key.</summary>
    public const int MaxKeyBytes = 256;

    /// <summary>Maximum length of a value: records are read whole, and all of them fit into memory.</summary>
    public const int MaxValueBytes = 64 << 10;

    /// <summary>The expected version of a record that must not exist.</summary>
    public const long Absent = 0;

    private static readonly SearchValues<char> KeyCharacters = SearchValues.Create(
        "!\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~"
    );

    /// <summary>Returns whether a text is a valid key.</summary>
    public static bool IsKey(ReadOnlySpan<char> text) =>
        text.Length is > 0 and <= MaxKeyBytes && !text.ContainsAnyExcept(KeyCharacters);
}
