using System.Buffers;

namespace Rookery.Documents.Records;

/// <summary>One thing that the members of the cluster agree on, beyond its Raft configuration.</summary>
/// <param name="Key">1 to <see cref="MaxKeyBytes"/> printable ASCII characters without blanks, such as <c>member/</c>
/// and a node's id (<see cref="ClusterRecordPrefix"/>).</param>
/// <param name="Value">0 to <see cref="MaxValueBytes"/> bytes that only its reader understands.</param>
/// <param name="Version">The etag of the write that stored it, above 0: what a change of it may expect.</param>
public sealed record ClusterRecord(string Key, ReadOnlyMemory<byte> Value, long Version)
{
    /// <summary>Bytes of a key at most.</summary>
    public const int MaxKeyBytes = 256;

    /// <summary>Bytes of a value at most: records are read whole, and all of them fit into memory.</summary>
    public const int MaxValueBytes = 64 << 10;

    /// <summary>Expected of a record that must not be there.</summary>
    public const long Absent = 0;

    private static readonly SearchValues<char> KeyCharacters = SearchValues.Create(
        "!\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~"
    );

    /// <summary>Whether a text is a key.</summary>
    public static bool IsKey(ReadOnlySpan<char> text) =>
        text.Length is > 0 and <= MaxKeyBytes && !text.ContainsAnyExcept(KeyCharacters);
}
