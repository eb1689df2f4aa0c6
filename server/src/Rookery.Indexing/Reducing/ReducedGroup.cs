using Rookery.Json;

namespace Rookery.Indexing.Reducing;

/// <summary>
/// The rows of groups as an automatic map/reduce index keeps them: JSON objects with the members of the keys and then
/// those of the aggregates, in the order of the definition.
/// </summary>
public static class ReducedGroup
{
    /// <summary>The key of the group of documents that the index cannot hold. No other begins so.</summary>
    public static ReadOnlySpan<byte> UnheldKey => [0xFF];

    /// <summary>The row of such a document.</summary>
    public static ReadOnlySpan<byte> UnheldRow => "{\"unheld\":1}"u8;

    /// <summary>
    /// The term under <see cref="Mapping.MappedField.PresenceOf"/> of the field behind the last: of
    /// <see cref="UnheldKey"/>.
    /// </summary>
    public static ReadOnlySpan<byte> UnheldTerm => [1];

    /// <summary>The term there of a group whose id does not say where it stands in the order of groups.</summary>
    public static ReadOnlySpan<byte> CutTerm => [2];

    /// <summary>Whether a row is that of a document that the index cannot hold.</summary>
    public static bool IsUnheld(ReadOnlySpan<byte> row) => row.SequenceEqual(UnheldRow);

    /// <summary>Finds the values of a row.</summary>
    /// <param name="row">The row.</param>
    /// <param name="values">Takes where they stand, one for each key and aggregate.</param>
    public static void Find(ReadOnlySpan<byte> row, Span<Range> values)
    {
        int at = 1;
        foreach (ref var value in values)
        {
            StoredJson.TryReadMember(row, ref at, out _, out int start);
            value = start..at;
        }
    }
}
