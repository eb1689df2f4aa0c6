namespace Rookery.Documents.Apply;

/// <summary>
/// The stored form of a cluster record: <c>[u8 format][value]</c>. The record's version is the row's sequence.
/// </summary>
internal static class ClusterRecordValue
{
    /// <summary>Bytes before the value.</summary>
    public const int HeadBytes = 1;

    private const byte Format = 1;

    /// <summary>The bytes before the value.</summary>
    public static ReadOnlySpan<byte> Head => [Format];

    public static void Check(ReadOnlySpan<byte> stored) =>
        FormatGuard.Expect(stored.Length >= HeadBytes && stored[0] == Format, "cluster record");
}
